; a slot that a query sees reads a position forbidden to the query
; satisfiable: a counterexample; unsat: proved
(set-info :status unsat)
(set-logic QF_UFNIA)
(declare-const n Int)
(declare-const t Int)
(declare-const j Int)
(declare-const s Int)
(declare-const p Int)
(declare-const extra Int)
(define-fun times ((x Int) (y Int)) Int (* x y))
(declare-fun quotient (Int Int) Int) ; rounds down; defined below where it is used
(declare-fun start (Int) Int) ; first position of the document at a position
(assert (<= (+ (* (- 1) n) 1) 0))
(assert (<= (* (- 1) t) 0))
(assert (<= (* (- 1) j) 0))
(assert (<= (* (- 1) s) 0))
(assert (<= (+ (* (- 1) p) 1) 0))
(assert (<= (* (- 1) extra) 0))
(assert (and (<= (+ (* (- 1) n) (times (quotient n p) p)) 0) (<= (+ n (* (- 1) (times (quotient n p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) (start t)) (times (quotient (start t) p) p)) 0) (<= (+ (start t) (* (- 1) (times (quotient (start t) p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) (start j)) (times (quotient (start j) p) p)) 0) (<= (+ (start j) (* (- 1) (times (quotient (start j) p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (and (<= (+ (* (- 1) j) (start j) (times (quotient (+ j (* (- 1) (start j))) p) p)) 0) (<= (+ j (* (- 1) (start j)) (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p)) (* (- 1) p) 1) 0))) ; a quotient by a positive divisor
(assert (or (not (= (* (- 1) s) 0)) (= (* (- 1) (times p s)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) s) 1) 0)) (<= (+ p (* (- 1) (times p s))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ s 1) 0)) (<= (+ (times p s) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient (start t) p)) 0)) (= (* (- 1) (times (quotient (start t) p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (start t) p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient (start t) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start t) p) 1) 0)) (<= (+ (times (quotient (start t) p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 0)) (= (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ j (* (- 1) (start j))) p) 1) 0)) (<= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient n p)) 0)) (= (* (- 1) (times (quotient n p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient n p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) 1) 0)) (<= (+ (times (quotient n p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (* (- 1) (quotient (start j) p)) 0)) (= (* (- 1) (times (quotient (start j) p) p)) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (start j) p)) 1) 0)) (<= (+ p (* (- 1) (times (quotient (start j) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start j) p) 1) 0)) (<= (+ (times (quotient (start j) p) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) s) 1) 0)) (= (+ p (* (- 1) (times p s))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) s) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times p s))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= s 0)) (<= (times p s) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient (start t) p)) 1) 0)) (= (+ p (* (- 1) (times (quotient (start t) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (start t) p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient (start t) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient (start t) p) 0)) (<= (times (quotient (start t) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 1) 0)) (= (+ p (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient (+ j (* (- 1) (start j))) p) 0)) (<= (times (quotient (+ j (* (- 1) (start j))) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient n p)) 1) 0)) (= (+ p (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient n p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient n p) 0)) (<= (times (quotient n p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (* (- 1) (quotient (start j) p)) 1) 0)) (= (+ p (* (- 1) (times (quotient (start j) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (* (- 1) (quotient (start j) p)) 2) 0)) (<= (+ (* 2 p) (* (- 1) (times (quotient (start j) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (quotient (start j) p) 0)) (<= (times (quotient (start j) p) p) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ s (* (- 1) (quotient (start t) p))) 0)) (= (+ (times p s) (* (- 1) (times (quotient (start t) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ s (* (- 1) (quotient (start t) p)) 1) 0)) (<= (+ (times p s) p (* (- 1) (times (quotient (start t) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start t) p) (* (- 1) s) 1) 0)) (<= (+ (times (quotient (start t) p) p) p (* (- 1) (times p s))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ s (* (- 1) (quotient (+ j (* (- 1) (start j))) p))) 0)) (= (+ (times p s) (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ s (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 1) 0)) (<= (+ (times p s) p (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ j (* (- 1) (start j))) p) (* (- 1) s) 1) 0)) (<= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) (times p s))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ s (* (- 1) (quotient n p))) 0)) (= (+ (times p s) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ s (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times p s) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) s) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times p s))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ s (* (- 1) (quotient (start j) p))) 0)) (= (+ (times p s) (* (- 1) (times (quotient (start j) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ s (* (- 1) (quotient (start j) p)) 1) 0)) (<= (+ (times p s) p (* (- 1) (times (quotient (start j) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start j) p) (* (- 1) s) 1) 0)) (<= (+ (times (quotient (start j) p) p) p (* (- 1) (times p s))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (start t) p) (* (- 1) (quotient (+ j (* (- 1) (start j))) p))) 0)) (= (+ (times (quotient (start t) p) p) (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (start t) p) (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 1) 0)) (<= (+ (times (quotient (start t) p) p) p (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (+ j (* (- 1) (start j))) p) (* (- 1) (quotient (start t) p)) 1) 0)) (<= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) (times (quotient (start t) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (start t) p) (* (- 1) (quotient n p))) 0)) (= (+ (times (quotient (start t) p) p) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (start t) p) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times (quotient (start t) p) p) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) (quotient (start t) p)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times (quotient (start t) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (start t) p) (* (- 1) (quotient (start j) p))) 0)) (= (+ (times (quotient (start t) p) p) (* (- 1) (times (quotient (start j) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (start t) p) (* (- 1) (quotient (start j) p)) 1) 0)) (<= (+ (times (quotient (start t) p) p) p (* (- 1) (times (quotient (start j) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start j) p) (* (- 1) (quotient (start t) p)) 1) 0)) (<= (+ (times (quotient (start j) p) p) p (* (- 1) (times (quotient (start t) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (+ j (* (- 1) (start j))) p) (* (- 1) (quotient n p))) 0)) (= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) (* (- 1) (times (quotient n p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (+ j (* (- 1) (start j))) p) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) (times (quotient n p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient (+ j (* (- 1) (start j))) p) (* (- 1) (quotient (start j) p))) 0)) (= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) (* (- 1) (times (quotient (start j) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient (+ j (* (- 1) (start j))) p) (* (- 1) (quotient (start j) p)) 1) 0)) (<= (+ (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) (times (quotient (start j) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start j) p) (* (- 1) (quotient (+ j (* (- 1) (start j))) p)) 1) 0)) (<= (+ (times (quotient (start j) p) p) p (* (- 1) (times (quotient (+ j (* (- 1) (start j))) p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (= (+ (quotient n p) (* (- 1) (quotient (start j) p))) 0)) (= (+ (times (quotient n p) p) (* (- 1) (times (quotient (start j) p) p))) 0))) ; x = y gives x p = y p
(assert (or (not (<= (+ (quotient n p) (* (- 1) (quotient (start j) p)) 1) 0)) (<= (+ (times (quotient n p) p) p (* (- 1) (times (quotient (start j) p) p))) 0))) ; x < y gives x p + p <= y p
(assert (or (not (<= (+ (quotient (start j) p) (* (- 1) (quotient n p)) 1) 0)) (<= (+ (times (quotient (start j) p) p) p (* (- 1) (times (quotient n p) p))) 0))) ; y < x gives y p + p <= x p
(assert (or (not (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0))) (and (<= (* (- 1) (start t)) 0) (<= (+ (start t) (* (- 1) t)) 0)))) ; a document starts at or before its positions
(assert (or (not (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0))) (and (<= (* (- 1) (start j)) 0) (<= (+ (start j) (* (- 1) j)) 0)))) ; a document starts at or before its positions
(assert (and (<= (* (- 1) (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)))) 0) (<= (+ (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))) (* (- 1) (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))))) 0))) ; a document starts at or before its positions
(assert (or (not (and (and (and (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0)) (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0))) (<= (+ (start j) (* (- 1) t)) 0)) (<= (+ t (* (- 1) j)) 0))) (= (+ (start t) (* (- 1) (start j))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0)) (<= (+ (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))) (* (- 1) t)) 0)) (<= (+ t (* (- 1) (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))))) 0))) (= (+ (start t) (* (- 1) (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0)) (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0))) (<= (+ (start t) (* (- 1) j)) 0)) (<= (+ j (* (- 1) t)) 0))) (= (+ (start j) (* (- 1) (start t))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0)) (<= (+ (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))) (* (- 1) j)) 0)) (<= (+ j (* (- 1) (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))))) 0))) (= (+ (start j) (* (- 1) (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) t) 0) (<= (+ t (* (- 1) n) 1) 0)) (<= (+ (start t) (* (- 1) (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))))) 0)) (<= (+ (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))) (* (- 1) t)) 0))) (= (+ (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))) (* (- 1) (start t))) 0))) ; a document holds what lies between its start and its positions
(assert (or (not (and (and (and (<= (* (- 1) j) 0) (<= (+ j (* (- 1) n) 1) 0)) (<= (+ (start j) (* (- 1) (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))))) 0)) (<= (+ (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p) 0) 0 (ite (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0) (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)) (+ n (- 1)))) (* (- 1) j)) 0))) (= (+ (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))) (* (- 1) (start j))) 0))) ; a document holds what lies between its start and its positions
(assert (and (<= (+ t (* (- 1) n) 1) 0) (<= (+ j (* (- 1) n) 1) 0))) ; positions and queries
(assert (<= (+ s (* (- 1) (quotient n p)) (* (- 1) n) 1) 0)) ; slot
(assert (or (and (<= (+ s (* (- 1) (quotient n p)) 1) 0) (and (and (<= (+ (* (- 1) s) (quotient (start t) p)) 0) (<= (+ (start t) (times p s) (* (- 1) (times (quotient (start t) p) p)) p (* (- 1) t) (- 1)) 0)) (<= (+ (start t) (times p s) (* (- 1) (times (quotient (start t) p) p)) (* (- 1) t) p extra (- 1)) 0))) (and (not (<= (+ s (* (- 1) (quotient n p)) 1) 0)) (and (and (<= (+ (start t) (* (- 1) s) (quotient n p)) 0) (<= (+ s (* (- 1) (quotient n p)) (* (- 1) t)) 0)) (<= (+ t (* (- 1) s) (quotient n p) (* (- 1) p) (* (- 1) extra) 2) 0))))) ; query t sees slot s
(assert (or (and (<= (+ s (* (- 1) (quotient n p)) 1) 0) (and (and (= (+ s (* (- 1) (quotient (start j) p)) (* (- 1) (quotient (+ j (* (- 1) (start j))) p))) 0) (<= (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (* (- 1) n)) 0)) (= (+ (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1))) (* (- 1) (start j))) 0))) (and (not (<= (+ s (* (- 1) (quotient n p)) 1) 0)) (= (+ s (* (- 1) (quotient n p)) (* (- 1) j)) 0)))) ; slot s reads position j
(assert (not (and (<= (+ j (* (- 1) t)) 0) (= (+ (start j) (* (- 1) (start t))) 0)))) ; forbidden
(declare-const start_0 Int)
(assert (= start_0 (start t)))
(declare-const start_1 Int)
(assert (= start_1 (start j)))
(declare-const start_2 Int)
(assert (= start_2 (start (+ (start j) (times (quotient (+ j (* (- 1) (start j))) p) p) p (- 1)))))
(check-sat)
