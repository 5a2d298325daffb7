// Short forms that are written in texts of any language.
import type { ShortFormLists } from './short-forms.js';

export const INTERNATIONAL: ShortFormLists = {
  neverFinal: `mr mrs ms mx dr prof cf e.g i.e vs `,
  beforeNumber: `no nr exp ref max min vol fig p pp art tel ext ex op § th`,
  seldomFinal: `
    st mt al u.s u.s.a u.k u.n e.u d.c l.a n.y b.c a.d p.s ph.d m.d b.a m.a b.sc m.sc ll.m d.d.s r.n c.e.o
  `,
  oftenFinal: `a.m p.m am pm etc inc ltd co corp llc plc jr`,
  afterTime: `est edt et cst cdt ct mst mdt mt pst pdt pt gmt utc cet cest bst ist jst`,
};
