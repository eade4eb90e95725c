"""One module per claim T1…T18: statement, derivation, numeric check; rocq/ holds the kernel-checked proofs."""
