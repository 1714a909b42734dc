#include "npy.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace inlay::tool {
namespace {

using reference::f64;

std::string file(std::string header, std::string_view data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += {static_cast<char>(version), '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1) out += {'\0', '\0'};
  return out + header + std::string(data);
}

std::string failure(std::string_view bytes) {
  try {
    decode_npy(bytes, "a.npy");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_file);
    return error.diagnostic().message;
  }
  return "";
}

const std::string kTwo("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40", 16);  // 1.0, 2.0

TEST(Npy, ReadsWhatItWrites) {
  for (const Tensor& tensor :
       {f64({2, 3}, {1, 2, 3, 4, 5, 6}), f64({}, {1}), f64({0, 3}, {}), Tensor::zeros(DType::c128, {3}),
        Tensor::zeros(DType::boolean, {1}), Tensor::zeros(DType::f16, {5})}) {
    EXPECT_EQ(decode_npy(encode_npy(tensor), "a.npy"), tensor);
    EXPECT_EQ((encode_npy(tensor).size() - tensor.data.size()) % 64, 0U);
  }
}

TEST(Npy, ReadsColumnMajorAndLaterVersions) {
  const std::string header = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  const std::string data("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  const Tensor wanted = reference::tensor_of<int16_t>(DType::i16, {2, 3}, {1, 3, 5, 2, 4, 6});
  EXPECT_EQ(decode_npy(file(header, data), "a.npy"), wanted);
  EXPECT_EQ(decode_npy(file(header, data, 2), "a.npy"), wanted);
  EXPECT_EQ(decode_npy(file("{'shape': (2,), 'fortran_order': False, 'descr': '<f8'}", kTwo), "a.npy"),
            f64({2}, {1, 2}));
}

TEST(Npy, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(failure(""), "a.npy: this is no .npy file");
  EXPECT_EQ(failure("PK\3\4 a zip"), "a.npy: this is no .npy file");
  EXPECT_EQ(failure("\x93NUMPY\1"), "a.npy: the file ends within its header");
  EXPECT_EQ(failure(file("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "").substr(0, 40)),
            "a.npy: the file ends within its header");
  EXPECT_EQ(failure(file("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", kTwo)),
            "a.npy: the file is cut off: 16 bytes of data for f64[3]");
  EXPECT_EQ(failure(file("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", kTwo)),
            "a.npy: the file is cut off: 16 bytes of data for f64[4611686018427387904, 4]");
  EXPECT_EQ(failure(file("{'descr': '>f8', 'fortran_order': False, 'shape': (2,)}", kTwo)),
            "a.npy: the elements are big-endian (>f8)");
  EXPECT_EQ(failure(file("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", kTwo)),
            "a.npy: the elements are Python objects, which inlay does not read");
  EXPECT_EQ(failure(file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", kTwo)),
            "a.npy: the elements are records, which inlay does not read");
  EXPECT_EQ(failure(file("{'descr': '<M8', 'fortran_order': False, 'shape': (2,)}", kTwo)),
            "a.npy: inlay has no dtype for <M8");
  EXPECT_EQ(failure(file("{'descr': '<f8', 'shape': (2,)}", kTwo)), "a.npy: the header has no fortran_order ");
  EXPECT_EQ(failure(file("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}", kTwo)),
            "a.npy: the shape is no list of sizes");
  EXPECT_EQ(failure(file("what is this", kTwo)), "a.npy: the header is no dictionary: expected `{` at byte 0");
  EXPECT_EQ(failure(file("{}", kTwo, 9)), "a.npy: version 9 of the format is not known");
}

TEST(Npy, EveryPrefixOfAFileIsAnErrorAndNoCrash) {
  const std::string whole = encode_npy(f64({2, 3}, {1, 2, 3, 4, 5, 6}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(failure(whole.substr(0, length)), "") << length;
}

TEST(Npy, AFileWithoutEndIsNotReadToItsEnd) {
  try {
    read_npy("/dev/zero");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().message, "/dev/zero: this is no .npy file");
  }
}

TEST(Npy, NamesTheFileThatCannotBeRead) {
  try {
    read_npy("/no/such/file.npy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "error[invalid-file]: /no/such/file.npy: cannot be read: No such file or directory");
  }
  EXPECT_THROW(read_npy(std::filesystem::temp_directory_path().string()), Error);
}

}  // namespace
}  // namespace inlay::tool
