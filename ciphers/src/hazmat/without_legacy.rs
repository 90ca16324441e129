//! No rows of old ciphers.

pub(super) use lanecrypt_kernels::wipe::DEPTH;

/// Calls the macro `$make` with `$arguments` and all rows.
macro_rules! raw_ciphers {
    ($make:ident! $arguments:tt) => {
        $crate::hazmat::table::with_rows! { $make! $arguments
            blocks {} streams {} unseekable {} hc128 {}
        }
    };
}

pub(super) use raw_ciphers;
