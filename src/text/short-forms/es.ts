// Short forms of Spanish.
import type { ShortFormLists } from './short-forms.js';

export const SPANISH: ShortFormLists = {
  neverFinal: `
    sr sra srta srs sres dña dª exc excmo ilmo p.ej sto sta av avda
    dra dras sras srtas ing lic lcdo lcda arq abg mtro mtra gral cnel cmte tte sgto mons pdte pdta excma ilma rvdo hno hna
    pza plza ctra urb glta depto dpto edif apdo ej aprox ee rr jj cc dd séc sécs gen col rev esp gte rte magdo dip psic fdo
    mª pol ind op
  `,
  beforeNumber: `
    núm núms num nº nos nro págs pág pags pag figs vols cap caps arts sec secc comp cáps exp gts párr lín fasc pos apto
    ene feb mar abr jun jul sep sept oct nov dic lun mié jue vie sáb dom max min máx mín figs tít ap sl gs lám lt mz cra cll kr temp
  `,
  seldomFinal: `arch rag cía hnos esc ss bl ave bs fdez glez rdguez hdez mtnez licda pte vda blvr blvd bulev izq izqda izda dcha entlo pral deleg cdad admón ppdo teléf tfno telf tlf móv pzas cód ntro atte cfr univ profa mpio fracc avd s/n cit ibíd ibid`,
  seldomFinalAsWritten: `Cia Dir Min Ma`,
  oftenFinal: `ltda lda uu hh oo aa ud uds vd vds s.a s.l`,
  starters: `
    él ella ellos ellas el la los las un una unos unas lo le les me te se nos pero y o ni cuando cuándo entonces yo tú usted ustedes nosotros vosotros nadie
    todo todos toda todas este esta esto estos estas ese esa eso esos esas aquel aquella aquí allí ahí ahora hoy mañana ayer ya sí no nunca siempre
    después luego también tampoco además así según si su sus mi mis tu tus nuestro nuestra en con por para desde hasta sin sobre entre a
    hay es son fue fueron era eran está están será ha han he había puede puedo quiere tiene tengo murió nació
    qué quién cómo dónde cuál porque aunque mientras cada otro otra muchos muchas solo sólo muy más gracias hola
    venga vea llame llámenos llámeme llama llámame vaya pulse marque diga espere tome gire siga visite traiga pregunte escriba envíe haga trabaja vive
    recuerde consulte
  `,
  seldomFinalHere: `fco dres alm gob sen mm trav rda edo prov der esq hab as pta bco inst secr cta cte pdo dto cel obs vv ff incl excl trad ca tab int km ed vers da fr cl pl vid`,
};
