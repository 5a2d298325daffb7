// Short forms of Italian.
import type { ShortFormLists } from './short-forms.js';

export const ITALIAN: ShortFormLists = {
  neverFinal: `
    sig sig.ra sig.na sigg dott dott.ssa dott.ri dr.ssa avv prof.ssa proff gent gent.mo gent.ma egr p.es ing geom mons spett spett.le cfr
    l'on l’on dell'on dell’on all'on all’on fisc p.zza p.le v.le c.so l.go f.lli ca
    ades peres
  `,
  beforeNumber: `
    trim op bin rit nn num nº pag pagg artt capp cap voll sez prot tav int lett fig figg temp cell bin
    feb mar apr mag giu lug sett ott nov dic lun mar ven sab dom max min gio
    tab
  `,
  seldomFinal: `cia arch rag ss trib sent cass civ magg fraz univ scad escl succ secc energ sott rif approx ibid d.lgs ss.gg`,
  oftenFinal: `ecc`,
  starters: `
    lui lei noi voi loro io tu il lo la i gli le un uno una l ma e o se quando poi è non no sì questo questa questi queste quello quella anche dopo così c'è ci si
    nel nella nei nelle alla ai sul sulla come dove chi che cosa perché quale quanto per con senza in su tra fra a ad
    suo sua mio mia tuo tua nostro nostra vostro ogni tutti tutto tutte molti molte mai sempre già ancora qui lì là ecco ora oggi ieri domani adesso
    grazie ciao buongiorno inoltre infine infatti però quindi allora mentre prima durante sono era erano ha hanno sarà può
    morì nacque fu visse chiami chiamate venga venite vada andate prenda prema premi digiti attenda scriva giri segua visiti
  `,
  seldomFinalAsWritten: `On`,
  seldomFinalHere: `pen on sen gen col ten cav comm card rev fam vic loc prov pres rep ed cd cit dip ist uff ns gg ult incl tot cad cod en trad sc sec lib fasc par es reg all ver ep
    pos km gr`,
  shortStarters: `cfr cf es`,
};
