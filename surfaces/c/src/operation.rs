//! The numbers of operations.

use core::ffi::c_int;

use lanecrypt_engine::Operation;

use crate::code::Code;

/// The operations with their numbers.
pub(crate) const NUMBERS: &[(c_int, &str, Operation)] = &[
    (1, "SEAL", Operation::Seal),
    (2, "OPEN", Operation::Open),
    (3, "SIGN", Operation::Sign),
    (4, "VERIFY", Operation::Verify),
    (17, "HAZMAT_ENCRYPT", Operation::Encrypt),
    (18, "HAZMAT_DECRYPT", Operation::Decrypt),
];

/// The operation with this number.
pub(crate) fn of_number(number: c_int) -> Result<Operation, Code> {
    let found = NUMBERS.iter().find(|row| row.0 == number);
    found.map(|row| row.2).ok_or(Code::UnknownOperation)
}
