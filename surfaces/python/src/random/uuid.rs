//! Random identifiers (RFC 9562, version 4) as objects of the standard module `uuid`.

use lanecrypt_random::try_fill;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyAny;

use super::no_entropy;

/// What objects are made of: `UUID.__init__` takes ten times as long as all of this.
struct Parts {
    class: Py<PyAny>,
    new: Py<PyAny>,
    set_int: Py<PyAny>,
    set_is_safe: Py<PyAny>,
    unknown: Py<PyAny>,
}

static PARTS: PyOnceLock<Parts> = PyOnceLock::new();

impl Parts {
    fn find(py: Python<'_>) -> PyResult<Self> {
        let module = py.import("uuid")?;
        let class = module.getattr("UUID")?;
        Ok(Self {
            new: py.get_type::<PyAny>().getattr("__new__")?.unbind(),
            set_int: class.getattr("int")?.getattr("__set__")?.unbind(),
            set_is_safe: class.getattr("is_safe")?.getattr("__set__")?.unbind(),
            unknown: module.getattr("SafeUUID")?.getattr("unknown")?.unbind(),
            class: class.unbind(),
        })
    }
}

/// A random UUID of version 4, as `uuid.uuid4`.
///
/// >>> uuid4().version
/// 4
#[pyfunction]
pub(crate) fn uuid4(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let mut bytes = [0; 16];
    try_fill(&mut bytes).map_err(|_| no_entropy())?;
    let number = u128::from_be_bytes(bytes) & !(0xf << 76 | 3 << 62) | 4 << 76 | 2 << 62;

    let parts = PARTS.get_or_try_init(py, || Parts::find(py))?;
    let uuid = parts.new.bind(py).call1((&parts.class,))?;
    parts.set_int.bind(py).call1((&uuid, number))?;
    parts.set_is_safe.bind(py).call1((&uuid, &parts.unknown))?;
    Ok(uuid)
}
