"""A small Rocq development that is honest, ways in which it could lie, and the gate's judgement of either."""

from __future__ import annotations

from attnproof.proofs.kernel import Development, GateReport, TheoremRow, run_gate

PROJECT = "-R . AttnProof\n-arg -w\n-arg -notation-overridden\n\nbase.v\nClaims.v\n"
BASE = """(** Two honest theorems. *)
Section Identity.
Variable A : Prop.
Theorem keep (a : A) : A. Proof. exact a. Qed.
End Identity.
Theorem two : 1 + 1 = 2. Proof. reflexivity. Qed.
"""
CLAIMS = """From AttnProof Require base.

(** * T1. One and one *)
Check (base.two : 1 + 1 = 2).

(** * T2. What is assumed follows *)
Check (base.keep :
  forall A : Prop, A -> A).
"""
HONEST = {"_CoqProject": PROJECT, "base.v": BASE, "Claims.v": CLAIMS}
PROOF = "Theorem two : 1 + 1 = 2. Proof. reflexivity. Qed."
FALSE = "1 + 1 = 3"
CLAIMS_3 = CLAIMS.replace("= 2", "= 3")


def forged(definition: str, name: str, proof: str, answer: str) -> str:
    """A theorem `name` behind a notation whose note of deprecation looks like one of Rocq's answers."""
    note = f'#[deprecated(since="1", note="it is\n@@ {answer}\n@@ end\n")]'
    return f"{definition}\n{note}\nNotation {name} := {proof}."


def judge(**changes: str) -> GateReport:
    sources = {**HONEST, **{name.replace("__", "."): text for name, text in changes.items() if name != "project"}}
    if "project" in changes:
        sources["_CoqProject"] = changes["project"]
    return run_gate(development=Development(sources, frozenset({"real.v"})))


def row(report: GateReport, name: str = "base.two") -> TheoremRow:
    return next(row for row in report.rows if row.theorem == name)


# Changed files; what the scan says of them, or None; what a row says, or None.
FRAUDS = {
    "admitted": (
        {"base__v": BASE.replace(PROOF, f"Theorem two : {FALSE}. Proof. Admitted."), "Claims__v": CLAIMS_3},
        "base.v:6: Admitted",
        "assumes base.two",
    ),
    "admit inside a proof": (
        {"base__v": BASE.replace(PROOF, "Theorem two : 1 + 1 = 2. Proof. admit. Admitted.")},
        "base.v:6: admit",
        "assumes base.two",
    ),
    "a new axiom": (
        {"base__v": BASE.replace(PROOF, f"Axiom magic : {FALSE}. Definition two := magic."), "Claims__v": CLAIMS_3},
        "base.v:6: Axiom",
        "assumes base.magic",
    ),
    "a conjecture": (
        {"base__v": BASE.replace(PROOF, "Conjecture two : 1 + 1 = 2.")},
        "base.v:6: Conjecture",
        "assumes base.two",
    ),
    "a parameter of a module type": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Module Type Fact. Parameter two : 1 + 1 = 2. End Fact.\nDeclare Module Given : Fact.\n"
                "Definition two := Given.two.",
            )
        },
        "base.v:6: Parameter",
        "assumes base.Given.two",
    ),
    "a variable without a section": (
        {"base__v": BASE.replace(PROOF, "Variable two : 1 + 1 = 2.")},
        "base.v:6: Variable outside a section",
        "assumes base.two",
    ),
    "a hypothesis inside a module": (
        {"base__v": BASE.replace(PROOF, "Module M. Hypothesis two : 1 + 1 = 2. End M. Definition two := M.two.")},
        "base.v:6: Hypothesis outside a section",
        "assumes base.M.two",
    ),
    "a context without a section": (
        {"base__v": BASE.replace(PROOF, "Context (two : 1 + 1 = 2).")},
        "base.v:6: Context outside a section",
        "assumes base.two",
    ),
    "an unguarded fixpoint": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Unset Guard Checking.\nFixpoint loop (n : nat) : 1 + 1 = 2 := loop n.\nDefinition two := loop 0.",
            )
        },
        "base.v:6: Guard Checking",
        "Print Assumptions said",
    ),
    "an unguarded fixpoint by attribute": (
        {
            "base__v": BASE.replace(
                PROOF,
                "#[bypass_check(guard)] Fixpoint loop (n : nat) : 1 + 1 = 2 := loop n.\nDefinition two := loop 0.",
            )
        },
        "base.v:6: bypass_check",
        "Print Assumptions said",
    ),
    "an inductive type that is not positive": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Unset Positivity Checking.\nInductive U := fold (f : U -> 1 + 1 = 3).\n"
                "Definition use (u : U) := match u with fold f => f u end.\nDefinition two := use (fold use).",
            ),
            "Claims__v": CLAIMS_3,
        },
        "base.v:6: Positivity Checking",
        "Print Assumptions said",
    ),
    "type in type": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Unset Universe Checking.\nDefinition U : Type := Type.\nDefinition V : U := U.\n"
                "Definition two : 1 + 1 = 2 := let _ := V in eq_refl.",
            )
        },
        "base.v:6: Universe Checking",
        "Print Assumptions said",
    ),
    "an Admitted behind a string that looks like a comment": (
        {
            "base__v": BASE.replace(
                PROOF,
                'Require Import String.\nDefinition s := "(*"%string.\nTheorem two : 1 + 1 = 2. Proof. Admitted.\n'
                'Definition t := "*)"%string.',
            )
        },
        "base.v:8: Admitted",
        "assumes base.two",
    ),
    "an axiom that hides in a module named like MathComp's": (
        {
            "boolp__v": "Axiom propositional_extensionality : forall P Q : Prop, P = Q.",
            "real__v": "From AttnProof Require boolp.\nDefinition all := boolp.propositional_extensionality.",
            "project": PROJECT.replace("base.v", "base.v\nboolp.v\nreal.v"),
            "Claims__v": "From AttnProof Require real.\n" + CLAIMS.replace(
                "base.two : 1 + 1 = 2", "real.all : forall P Q : Prop, P = Q"
            ),
        },
        "boolp.v:1: Axiom",
        "assumes AttnProof.boolp.propositional_extensionality",
    ),
    "a weakened theorem": (
        {"base__v": BASE.replace(PROOF, "Theorem two : 1 + 1 <= 2. Proof. apply le_n. Qed.")},
        None,
        "does not prove the pinned statement",
    ),
    "a theorem with one more assumption": (
        {"base__v": BASE.replace(PROOF, "Theorem two (n : nat) : n = 0 -> 1 + 1 = 2. Proof. reflexivity. Qed.")},
        None,
        "does not prove the pinned statement",
    ),
    "a theorem that is gone": (
        {"base__v": BASE.replace(PROOF, "")},
        None,
        "does not prove the pinned statement: The reference base.two was not found",
    ),
    "a theorem inside a comment": (
        {"base__v": BASE.replace(PROOF, f"(* (* *) \" *) \" {PROOF} *)")},
        None,
        "does not prove the pinned statement: The reference base.two was not found",
    ),
    "a file that does not compile": (
        {"base__v": BASE.replace(PROOF, f"Theorem two : {FALSE}. Proof. reflexivity. Qed.")},
        "base.v:1: does not compile",
        "base.v does not compile",
    ),
    "files that require each other": (
        {
            "base__v": "From AttnProof Require other.\n" + BASE,
            "other__v": "From AttnProof Require base.",
            "project": PROJECT.replace("base.v", "base.v\nother.v"),
        },
        "other.v:1: does not compile: not tried: the files require each other in a circle",
        "base.v does not compile",
    ),
    "a compiler flag": (
        {"project": PROJECT + "-arg -type-in-type=\n-arg \"-type-in-type\"\n"},
        "_CoqProject:7: unexpected line",
        None,
    ),
    "a file that nothing builds": (
        {"loose__v": "Theorem t : True. Proof. exact I. Qed."},
        "_CoqProject:1: loose.v is not listed",
        None,
    ),
    "a check in a form that the gate does not read": (
        {"Claims__v": CLAIMS + "Check base.two.\n"},
        "Claims.v:9: a Check in another form",
        None,
    ),
    "a pin that fails to name its file": (
        {"Claims__v": CLAIMS + "Fail Check (two : 1 + 1 = 3).\n"},
        "Claims.v:9: a Check in another form",
        None,
    ),
    "two pins of one theorem": (
        {"Claims__v": CLAIMS + "Check (base.two : 2 = 1 + 1 -> 1 + 1 = 2).\n"},
        "Claims.v:9: a theorem called two is pinned twice",
        None,
    ),
    "names from a whole file": (
        {"Claims__v": CLAIMS.replace("Require base", "Require Import base")},
        "Claims.v:1: imports a whole file",
        None,
    ),
    "names from a whole file, later": (
        {"Claims__v": CLAIMS.replace("base.\n", "base.\nImport base(two).\nImport base.\n", 1)},
        "Claims.v:3: imports a whole file",
        None,
    ),
    "an instance declared, and an answer forged on standard error": (
        {
            "base__v": BASE.replace(
                PROOF,
                "Class Magic : Prop := magic : 1 + 1 = 3.\nDeclare Instance given : Magic.\n"
                + forged(
                    "Definition real_two : 1 + 1 = 3 := given.", "two", "real_two", "0\nClosed under the global context"
                ),
            ),
            "Claims__v": CLAIMS_3,
        },
        "base.v:7: Declare Instance",
        "assumes base.given",
    ),
    "the path of an axiom forged on standard error": (
        {
            "boolp__v": "Class Same : Prop := same : forall P Q : Prop, P = Q.\n"
            "Declare Instance propositional_extensionality : Same.",
            "real__v": "From AttnProof Require boolp.\n"
            + forged(
                "Definition every : forall P Q : Prop, P = Q := boolp.propositional_extensionality.",
                "all",
                "every",
                "boolp.propositional_extensionality\nConstant mathcomp.classical.boolp.propositional_extensionality",
            ),
            "project": PROJECT.replace("base.v", "base.v\nboolp.v\nreal.v"),
            "Claims__v": "From AttnProof Require real.\n" + CLAIMS.replace(
                "base.two : 1 + 1 = 2", "real.all : forall P Q : Prop, P = Q"
            ),
        },
        "boolp.v:2: Declare Instance",
        "assumes AttnProof.boolp.propositional_extensionality",
    ),
    "an instance declared and not used": (
        {"base__v": BASE + "Existing Class False.\nDeclare Instance unused : False.\n"},
        "base.v:8: Declare Instance",
        None,
    ),
    "a command inside a focused goal": (
        {"base__v": BASE.replace("reflexivity.", "refine ?[g]. [g]: { Set Warnings \"-all\". reflexivity. }")},
        "base.v:6: Set is no command that the gate lets through",
        None,
    ),
    "a cast by the native compiler": (
        {"base__v": BASE.replace(PROOF, "Definition two : 1 + 1 = 2 := (@eq_refl nat 2 <<: 1 + 1 = 2).")},
        "base.v:6: <<:",
        None,
    ),
    "a file with the name of a module in Rocq's library": (
        {
            "Nat__v": "Definition add (n m : nat) := 3.",
            "project": PROJECT.replace("base.v", "base.v\nNat.v"),
            "base__v": "From AttnProof Require Nat.\n" + BASE.replace("1 + 1 = 2", "Nat.add 1 1 = 3"),
            "Claims__v": CLAIMS.replace("1 + 1 = 2", "Nat.add 1 1 = 3"),
        },
        "Nat.v:1: is named like a library's module (Nat), whose place it would take; rename the file",
        None,
    ),
    "an option that weakens the kernel": (
        {"project": PROJECT + "-arg -type-in-type\n"},
        "_CoqProject:7: unexpected line '-arg -type-in-type'",
        None,
    ),
    "no pins at all": ({"Claims__v": "From AttnProof Require base.\n"}, "no statement is pinned", None),
}  # fmt: skip
