// Words whose full stop usually does not end a sentence, as data.
//
// Keys are lower case and without the last full stop. A word stands in one
// list only; the lists differ in what may follow a real sentence end.

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Always followed by the rest of the phrase: a name, an example, a number. */
export const NEVER_FINAL = words(`
  mr mrs ms mx dr drs prof rev hon gen col capt cmdr lt sgt maj sen rep gov pres supt messrs mme mlle mgr
  vs cf approx esp e.g i.e eg viz
  hr fr abt dipl.-ing dipl.-kfm univ.-prof dipl-ing priv-doz z.b d.h u.a i.d.r u.u v.a bzw ggf sog inkl exkl zzgl evtl vgl ca bspw insb
  sr sra srta srs sres dña dª exc excmo ilmo p.ej sto sta av avda
  dra dras sras srtas ing lic lcdo lcda arq abg mtro mtra gral cnel cmte tte sgto mons pdte pdta excma ilma rvdo hno hna
  pza plza ctra urb glta depto dpto edif apdo ej aprox ee rr jj cc dd séc sécs
  profa eng enga cel pça trav estr exmo exma
  hd bzgl ehem mtl lfd dt engl gegr verst frl inh bj ggfs zzt o.g abzgl exkl insbes mind einschl gem lt
  m mm pr tél réf env p.ex c.-à-d av bd bld boul adr éd dép cie
  sig sig.ra sig.na sigg dott dott.ssa dott.ri dr.ssa avv prof.ssa gent gent.mo gent.ma egr p.es ing geom mons spett spett.le cfr
  l'on l’on dell'on dell’on all'on all’on fisc p.zza p.le v.le c.so l.go f.lli
  p.ex
  т.е напр проф акад др-р им ул пр просп гр тов г-н г-жа пл наб просп пос дер оз гос мкр моб эл респ доц канд зам зав инж
`);

/** Not final before a digit ("No. 5", "Fig. 2"); otherwise an ordinary word ("I said no."). */
export const BEFORE_NUMBER = words(`
  no nos nr num núm nº vol vols fig figs p pp pg art arts sec ch chap par para op ed eq ex item ref tel ext
  abs kap abb bd s str nrn núms pág págs cap fasc § pos ziff стр гл рис табл п пп д кв корп доб тел оф эт подп разд абз вып вл пом ок пол нач кон сер
  янв фев февр апр июн июл авг сен сент окт ноя нояб дек
  lb lbs oz apt max min mwst
  jan feb mar apr jun jul aug sep sept oct nov dec okt dez mär
  janv févr fév avr juil juill déc
  lun ven gio sab dom th pag pagg artt capp nn sez prot tav int mag giu lug ott dic
  nro ene abr dic dom sáb mié jue fev párr lín secc apto
  caps figs tít ap qd sl máx mín bs gs anex lám
`);

/** May end a sentence, and then the next word begins one: only a word of SENTENCE_STARTERS proves it. */
export const SELDOM_FINAL = words(`
  st mt ft ave blvd rd ln sq hwy dept univ assn bros al
  u.s u.s.a u.k u.n e.u d.c l.a n.y b.c a.d p.s ph.d m.d b.a m.a b.sc m.sc ll.m d.d.s r.n c.e.o
  arch rag cía hnos esc uu hh oo aa ss bl
  ff e.v str bhf hbf mio mrd г гг обл руб коп тыс млн млрд долл
  трлн см ср пер мин сек час мес нед дн сут шт чел экз макс ш каб лит ст рт
`);

/** Likewise, but only in this spelling: "the CIA. Bob", "a rod. Bob". */
export const SELDOM_FINAL_AS_WRITTEN = words(`Cia Rod Dep Des Pe Dir Min Exa`);

/** Ends the sentence where a capital follows that is not part of a time or a name. */
export const OFTEN_FINAL = words(`
  a.m p.m am pm etc inc ltd ltda lda co corp llc plc jr esq usw usf etc.pp ecc т.д т.п др
`);

/** What follows a time of day without ending the sentence: "at 3 p.m. Eastern", "5 p.m. Monday". */
export const AFTER_TIME = words(`
  eastern central pacific mountain atlantic greenwich universal local standard daylight
  est edt cst cdt mst mdt pst pdt gmt utc cet cest bst ist jst
  monday tuesday wednesday thursday friday saturday sunday
  january february march april may june july august september october november december
`);

/** Capitalised, these begin a sentence and hardly ever continue a name. */
export const SENTENCE_STARTERS = words(`
  i he she it we you they this that these those there here the a an my your his her its our their
  but and or so if when while after before because since although though however then thus therefore moreover
  what who why where how is are was were do does did can could will would should please yes no not now
  well okay ok sure great thanks thank sorry maybe perhaps also finally later today tomorrow nobody everybody everyone
  someone nothing something some many most every both another have has had once all any only
  at in on as by for from with to let let's it's that's i'm he's she's we're you're they're don't
  er sie es wir ich ihr das der die den dem ein eine aber und oder wenn als doch dann danach dort hier
  danke bitte gut ja nein heute morgen was wer wo wann warum wie alle viele nun also mehr nichts man kein keine mein
  ist sind hat haben kann können im auf mit von zu bei nach für seit
  il elle ils elles nous vous je le la les un une ce cette ces mais et ou si quand puis
  él ella ellos el los las una pero y cuando entonces yo tú usted ustedes nosotros nadie todo todos este esta esto
  después luego también además así según si su sus en con por para desde hasta hay es son fue era murió venga vea llame
  lui lei noi lo gli uno ma quando poi è non questo questa questi queste anche dopo così c'è c’è nel nella
  c'est c’est j'ai j’ai ça cela cet cette depuis puis aujourd'hui
  ele ela eles o os as um uma mas e quando então eu nós você vocês ninguém tudo isso isto este esta não sim
  depois também além assim segundo se seu sua em com por para desde até há é são foi era veja ligue
  он она оно они мы вы я это но и а в на когда потом затем
`);

/** German words before an ordinal: in "am 3. Oktober" the stop belongs to the number. */
export const BEFORE_ORDINAL = words(`
  am im der die das den dem des vom zum zur bis ab seit dieser dieses diesen diesem jeder jeden
  ihr ihre ihrem ihren ihres sein seine seinem seinen seines mein meine meinem meinen unser unsere unserem unseren ein eine einem einen
`);

/** German words after an ordinal. */
export const AFTER_ORDINAL = words(`
  januar jänner februar märz april mai juni juli august september oktober november dezember
  jahrhundert jahrhunderts weltkrieg weltkriegs klasse stock etage geburtstag mal platz rang tag woche monat
  quartal kapitel abschnitt auflage
`);

/** Names written with an exclamation mark. */
export const EXCLAIMING_NAMES = words(`yahoo jeopardy joomla`);
