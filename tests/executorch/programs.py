"""Programs that planners get wrong, or could: (module, arguments)."""

import torch
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan as torch_scan

torch.manual_seed(0)
X, AT, V = torch.randn(8, 16), torch.tensor([1, 3]), torch.randn(2, 16)


class ReaderOfAResultInPlace(torch.nn.Module):
    def forward(self, x, i, v):
        t = x + 1
        c = torch.index_put(t, (i,), v)
        u = x * 3
        w = u * u
        return c + w


class ViewOfWhatIsOverwritten(torch.nn.Module):
    def forward(self, x, i, v):
        t = x + 1
        s = t.view(-1)
        c = torch.index_put(t, (i,), v)
        return s * 2, c


class OtherOperandOfAResultInPlace(torch.nn.Module):
    def forward(self, x):
        t = x + 1
        a = x * 2
        c = torch.minimum(a, x)
        b = torch.maximum(t, a)
        return b + c


class TwoBranches(torch.nn.Module):
    def forward(self, x, p):
        a = torch.cond(p.sum() > 0, lambda x: x * 2 + 1, lambda x: x - 3, (x,))
        b = torch.cond(p.sum() > 1, lambda x: x * 5 - 2, lambda x: x + 7, (x,))
        return a * 1.5 + b


class BranchInABranch(torch.nn.Module):
    def forward(self, x, p):
        def inner(x):
            y = x * 2
            return torch.cond(x.sum() > 0, lambda y: y * 3 + 1, lambda y: y - 1, (y,)) + y

        a = torch.cond(p.sum() > 0, inner, lambda x: x - 3, (x,))
        b = torch.cond(p.sum() > 1, lambda x: x + 1, inner, (x,))
        return a * b


class ResultOfABranchIsViewed(torch.nn.Module):
    def forward(self, x, p):
        a = torch.cond(p.sum() > 0, lambda x: x * 2 + 1, lambda x: x - 3, (x,))
        return a.view(-1) * 2 + 1


class ResultOfABranchIsViewedAndReturned(torch.nn.Module):
    def forward(self, x, p):
        a = torch.cond(p.sum() > 0, lambda x: x * 2 + 1, lambda x: x - 3, (x,))
        b = a.view(-1)
        return a, b.view(4, 32) * 2, b + 1


class BranchGivesAnOperand(torch.nn.Module):
    def forward(self, x, p):
        t = x + 1
        a = torch.cond(p.sum() > 0, lambda t: t.clone(), lambda t: t.view(-1).view(8, 16) * 1, (t,))
        u = torch.relu(t * 3)
        return u * u + a


class OperandOfABranchIsViewed(torch.nn.Module):
    def forward(self, x, p):
        t = x + 1
        return torch.cond(p.sum() > 0, lambda t: t.view(-1) * 2, lambda t: torch.relu(t.view(-1)), (t,)) * 2


class Map(torch.nn.Module):
    def forward(self, x):
        return torch_map(lambda row: (row * 2 + 1).relu() * 3, x) + x.sum()


class MapWithOperands(torch.nn.Module):
    """The body is given one operand itself, and views it."""

    def forward(self, x, y):
        z = y + 1
        return torch_map(lambda row, z: (row * z.view(-1)).relu() * 3 + z.sum(), x, z) + z.sum()


class ScanWithTwoCarried(torch.nn.Module):
    def forward(self, x):
        start = (x[0] * 2, x[1] + 1)
        carried, rows = torch_scan(lambda c, row: ((c[0] + row, c[1].view(4, 4).view(-1) * 0.5), c[0] * c[1]), start, x)
        return rows + 1, carried[0] * carried[1]


class Scan(torch.nn.Module):
    def forward(self, x):
        carried, rows = torch_scan(lambda c, row: (c + row, torch.relu(c * 2)), torch.zeros(16), x)
        return rows + 1, carried


class OperandTwice(torch.nn.Module):
    """What is overwritten is read at other places by the same op."""

    def forward(self, x, i, v):
        t = x + 1
        a = torch.index_put(t, (i,), t[:2])
        b = torch.index_put(a, (torch.flip(torch.arange(8), (0,)),), a)
        return b * 2 + v.sum()


class ViewOfAStateAndOfAConstant(torch.nn.Module):
    """Views of what is not to be changed, or only afterwards, are overwritten where ops are made in-place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(8, 16))
        self.register_buffer("table", torch.ones(8, 16))

    def forward(self, x, i, v):
        before = self.cache.view(-1)
        self.cache.index_put_((i,), v)
        changed = torch.index_put(self.table.view(-1), (i,), v[0, :2])
        given = torch.index_put(x.view(-1), (i,), v[0, :2])
        return before * 2, changed + given, self.cache + self.table


class Pieces(torch.nn.Module):
    """The results of a split are a list, and picked from what was allocated for them."""

    def forward(self, x):
        q, k, v = (x * 2).split(4, -1)[:3]
        low, high = torch.chunk(x + 1, 2, 0)
        return torch.softmax(q @ k.t() / 4, -1) @ v + 1, low, torch.relu(high).sum(0)


class StateThroughAView(torch.nn.Module):
    """A view of a state is overwritten by what is no state, before or after the state is."""

    def __init__(self, is_before):
        super().__init__()
        self.is_before = is_before
        self.register_buffer("cache", torch.zeros(8, 16))

    def forward(self, x, i, v):
        if not self.is_before:
            self.cache.index_put_((i,), v)
        y = torch.index_put(self.cache.view(-1), (i,), v[0, :2] + 7) * 2
        if self.is_before:
            self.cache.add_(1)
        return y


class StateThroughTwoViews(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(8, 16))

    def forward(self, x, i, v):
        a = torch.index_put(self.cache.view(-1), (i,), v[0, :2] + 7)
        self.cache.index_put_((i,), v)
        b = torch.index_put(self.cache.view(4, 32), (i,), x.view(4, 32)[:2])
        return a * 2, b + 1


class ViewOfAnOverwrittenView(torch.nn.Module):
    def forward(self, x, i, v):
        t = x + 1
        flat = torch.index_put(t.view(-1), (i,), v[0, :2])
        return flat.view(4, 32) * 2, t + v[0]


class SizesFoundLate(torch.nn.Module):
    def forward(self, x, k):
        n = k.item()
        torch._check(n >= 0)
        torch._check(n <= 8)
        y = torch.relu(x * 2)
        part = y[:n] + 1
        return part * part, torch.sigmoid(y)


class NoElements(torch.nn.Module):
    def forward(self, x):
        return x[:0] * 2, torch.zeros(0, 3) + 1, torch.relu(x)


class ReturnedTwice(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        return y, y, x


class State(torch.nn.Module):
    """A cache that is written at a position, and an average that is kept."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(8, 16))
        self.register_buffer("average", torch.zeros(16))

    def forward(self, x, i, v):
        self.cache.index_put_((i,), v)
        self.average.mul_(0.5).add_(x.mean(0))
        y = self.cache * 2
        return (y + x).relu() + self.average, self.cache.view(-1) + 1


class Stretched(torch.nn.Module):
    """An operand of another shape, another dtype, the same operand twice, a view of it beside it."""

    def forward(self, x):
        t = x + 1
        row = t[0] * 2
        u = t * row
        w = u * u
        z = w.view(16, 8) + 1
        return z.t() + w, (w > 0).float() + row


class Chain(torch.nn.Module):
    def forward(self, x):
        for scale in (2.0, 3.0, 0.5, 0.25):
            x = torch.sigmoid(torch.clamp(x * scale, -4, 4)) + x
        return x


PROGRAMS = {
    "reader_of_a_result_in_place": (ReaderOfAResultInPlace(), (X, AT, V)),
    "view_of_what_is_overwritten": (ViewOfWhatIsOverwritten(), (X, AT, V)),
    "other_operand_of_a_result_in_place": (OtherOperandOfAResultInPlace(), (X,)),
    "two_branches": (TwoBranches(), (X, torch.tensor([1.0, 2.0]))),
    "two_other_branches": (TwoBranches(), (X, torch.tensor([-1.0, -2.0]))),
    "branch_in_a_branch": (BranchInABranch(), (X, torch.tensor([0.5]))),
    "result_of_a_branch_is_viewed": (ResultOfABranchIsViewed(), (X, torch.tensor([1.0]))),
    "result_of_a_branch_is_viewed_and_returned": (ResultOfABranchIsViewedAndReturned(), (X, torch.tensor([-1.0]))),
    "branch_gives_an_operand": (BranchGivesAnOperand(), (X, torch.tensor([1.0]))),
    "operand_of_a_branch_is_viewed": (OperandOfABranchIsViewed(), (X, torch.tensor([-1.0]))),
    "map": (Map(), (X,)),
    "map_with_operands": (MapWithOperands(), (X, X[:4, :4].contiguous())),
    "scan_with_two_carried": (ScanWithTwoCarried(), (X,)),
    "scan": (Scan(), (X,)),
    "operand_twice": (OperandTwice(), (X, AT, V)),
    "view_of_a_state_and_of_a_constant": (ViewOfAStateAndOfAConstant(), (X, AT, V)),
    "pieces": (Pieces(), (X,)),
    "state_through_a_view_before": (StateThroughAView(True), (X, AT, V)),
    "state_through_a_view_after": (StateThroughAView(False), (X, AT, V)),
    "state_through_two_views": (StateThroughTwoViews(), (X, AT, V)),
    "view_of_an_overwritten_view": (ViewOfAnOverwrittenView(), (X, AT, V)),
    "sizes_found_late": (SizesFoundLate(), (X, torch.tensor(3))),
    "no_elements": (NoElements(), (X,)),
    "returned_twice": (ReturnedTwice(), (X,)),
    "state": (State(), (X, AT, V)),
    "stretched": (Stretched(), (X,)),
    "chain": (Chain(), (X,)),
}
