"""Networks of torchvision with random weights, in eval mode, for one image."""

import torch
import torchvision

# By name: the model of torchvision's, and the image's side.
NETWORKS = {
    "mobilenet_v2": ("mobilenet_v2", 224),
    "mobilenet_v3_small": ("mobilenet_v3_small", 224),
    "mobilenet_v3_large": ("mobilenet_v3_large", 224),
    "mnasnet": ("mnasnet1_0", 224),
    "shufflenet_v2": ("shufflenet_v2_x1_0", 224),
    "squeezenet": ("squeezenet1_1", 224),
    "googlenet": ("googlenet", 224),
    "inception_v3": ("inception_v3", 299),
    "resnet18": ("resnet18", 224),
    "resnet50": ("resnet50", 224),
    "resnext50": ("resnext50_32x4d", 224),
    "regnet_y_400mf": ("regnet_y_400mf", 224),
    "densenet121": ("densenet121", 224),
    "efficientnet_b0": ("efficientnet_b0", 224),
    "efficientnet_v2_s": ("efficientnet_v2_s", 224),
    "convnext_tiny": ("convnext_tiny", 64),
    "vit_b_16": ("vit_b_16", 64),
    "swin_t": ("swin_t", 64),
    "lraspp": ("lraspp_mobilenet_v3_large", 256),
    "deeplabv3": ("deeplabv3_mobilenet_v3_large", 256),
}


def network(name):
    """(module, arguments)"""
    model, side = NETWORKS[name]
    options = {"weights": None}
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False  # minutes
    if name in ("lraspp", "deeplabv3"):
        options["weights_backbone"] = None
    if name == "vit_b_16":
        options["image_size"] = side
    torch.manual_seed(0)
    return torchvision.models.get_model(model, **options).eval(), (torch.rand(1, 3, side, side),)
