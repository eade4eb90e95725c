; a slot that a query sees reads a position forbidden to the query
; satisfiable: a counterexample; unsat: proved
(set-info :status sat)
(set-logic QF_LIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const s Int)
(declare-const k Int)
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (* (- 1) s) 0))
(assert (<= (+ (* (- 1) k) 1) 0))
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (<= (+ s (* (- 1) k) 1) 0)) ; slot
(assert (<= (+ s (* (- 1) t)) 0)) ; query t sees slot s
(assert (<= (* (- 1) j) 0)) ; slot s reads position j
(assert (not (<= (+ j (* (- 1) t)) 0))) ; forbidden
(check-sat)
