//! Columns as their users have them: every kind, with NULLs, slices and associated data; against
//! another implementation; and with everything changed that can be.

mod deterministic;
mod keyring;
mod layouts;
mod misuse;
mod random_columns;
mod table;
mod tampering;
mod threads;
mod upgrade;
