//! The description of a restartable sequence.

/// Assembly: the description of a sequence for the kernel, at label 9 (`struct rseq_cs`: version,
/// flags, start, length, abort). The sequence runs from label 2 to label 3. If it is aborted,
/// execution continues at label 4.
macro_rules! descriptor {
    () => {
        ".pushsection __rseq_cs, \"aw\"
        .balign 32
        9:
        .long 0, 0
        .quad 2f, 3f - 2f, 4f
        .popsection"
    };
}

pub(crate) use descriptor;
