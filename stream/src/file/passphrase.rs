//! Keys from passphrases.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use zeroize::Zeroizing;

use super::cost::Argon2id;
use super::error::Error;

/// The key of a passphrase, if the cost is allowed.
pub(super) fn key(
    cost: Argon2id,
    passphrase: &[u8],
    salt: &[u8; 16],
) -> Result<Zeroizing<[u8; 32]>, Error> {
    if !cost.is_allowed() {
        return Err(Error::Argon2id(cost));
    }
    let refused = |_| Error::Argon2id(cost);
    let (passes, lanes) = (cost.passes.into(), cost.lanes.into());
    let params = Params::new(cost.memory, passes, lanes, Some(32)).map_err(refused)?;
    let count = params.block_count();
    let mut blocks = Zeroizing::new(Vec::new());
    blocks.try_reserve_exact(count).map_err(|_| Error::Memory)?;
    blocks.resize(count, Block::new());
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(passphrase, salt, &mut *key, &mut blocks[..])
        .map_err(refused)?;
    Ok(key)
}
