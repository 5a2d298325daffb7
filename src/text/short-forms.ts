// Lists, for each language, the short forms whose full stop usually does not end a sentence, and the
// words that usually begin one.
// If the language of a text is known, its own list and the international list apply, otherwise all lists.
const INTERNATIONAL: ShortFormLists = {
  neverFinal: `mr mrs ms mx dr prof cf e.g i.e vs `,
  beforeNumber: `no nr exp ref max min vol fig p pp art tel ext ex op § th n° nº № no° nro`,
  seldomFinal: `
    st mt al u.s u.s.a u.k u.n e.u d.c l.a n.y b.c a.d p.s ph.d m.d b.a m.a b.sc m.sc ll.m d.d.s r.n c.e.o
  `,
  oftenFinal: `a.m p.m am pm etc inc ltd co corp llc plc jr`,
  afterTime: `est edt et cst cdt ct mst mdt mt pst pdt pt gmt utc cet cest bst ist jst`,
};

const GERMAN: ShortFormLists = {
  neverFinal: `
    hr fr abt dipl.-ing dipl.-kfm univ.-prof dipl-ing priv-doz ing z.b d.h u.a i.d.r u.u v.a bzw ggf sog inkl exkl zzgl evtl vgl ca bspw insb
    approx hd bzgl ehem mtl lfd dt engl gegr verst frl inh bj ggfs zzt o.g abzgl exkl insbes einschl lt
    hrn ggü tgl tägl wöchentl monatl jährl pfr bgm ausschl voraussichtl vsl gesetzl schriftl frz ital versch österr europ techn wiss kath griech zusätzl persönl dipl u.e m.e
    dipl.-kffr dipl.-päd dipl.-biol dipl.-psych dipl.-inf priv.-doz resp vorauss sachb geschf
  `,
  beforeNumber: `
    op h drs nos abs kap abb bd bl s str nrn pos ziff art mwst mind max min anm rn rdnr rz jg kl gl sp az gz kto hausnr beil anl nrn fn zi temp zw
    jan jän feb mär apr jun jul aug sep sept okt nov dez
    tab idnr rd kd artnr lfdnr psch durchw apt lit zif
  `,
  seldomFinal: `
    ff e.v str bhf hbf mio mrd gem geb gest std sek stk pers tsd pkt whg urt beschl jh jhd jhdt aufl hrsg verf tabl tbl
    ztr wo pfd pck pkg pckg stck em freundl herzl geb.-dat zw gez eff amerik evang allg öff spez urspr kfm poln türk vorl dgl verh entspr bsp vjs vers habil dres geschl durchg blk mitgl geschw abzügl zuzügl telef vorm nachm
    jew buchst ausg forts hptm gesch verw verk rd kd rechn hinterhs hdb ndl zweign frühst erdg aufz gebr
  `,
  seldomFinalAsWritten: `Fa Mag Min Sek Bio Gr max`,
  oftenFinal: `usw usf etc.pp chr ust og`,
  starters: `
    er sie es wir ich ihr das der die den dem ein eine einen einem einer und aber oder wenn als doch dann danach dort hier da dies diese dieser dieses
    danke bitte gut ja nein heute morgen gestern jetzt was wer wo wann warum wie welche welcher welches alle viele einige manche nun also mehr nichts
    niemand jemand man kein keine mein meine dein deine sein seine unser unsere sind ist hat haben kann können war waren wird werden wurde soll sollen muss
    müssen im auf mit von zu bei nach für seit ab aus am an um bis durch ohne gegen vor über unter zwischen trotzdem außerdem deshalb daher leider
    vielleicht natürlich gerne gern sehr so nur noch schon auch nie immer ob weil dass falls obwohl während bevor
    rufen ruf rufe drücken drücke kommen komm komme gehen geh gehe biegen nehmen melden sagen sag sage geben bringen warten fahren
    denken achten wählen klicken öffnen ihre ihren ihrem möchten wollen wünschen brauchen gibt sonst anschließend zuerst zunächst schließlich insgesamt
    allerdings zudem ferner ebenso laut trotz wegen dank dazu dabei damit davon dafür darum davor derzeit aktuell bislang bisher bereits beide jeder
    jede jedes etwa rund wenige mehrere sobald solange sofern zum zur vom beim innerhalb dürfen darf sollten könnten würden hätten bleiben bleibt
    fragen schauen sehen lesen stellen legen prüfen senden schicken schreiben antworten bestätigen vielen herzlichen liebe lieber sollte könnte
  `,
  beforeOrdinal: `
    am im der die das den dem des vom zum zur bis ab seit dieser dieses diesen diesem jeder jeden
    ihr ihre ihrem ihren ihres sein seine seinem seinen seines mein meine meinem meinen unser unsere unserem unseren ein eine einem einen
    jedes jede jedem eines einer seiner ihrer meiner unserer beim dein deine deinem deinen deiner kein keine keinen keinem keiner euer eure ihres seines
    jenes letzten nächsten beiden
  `,
  afterOrdinal: `
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jahrhundert jahrhunderts weltkrieg weltkriegs klasse stock etage geburtstag mal platz rang tag woche monat
    quartal kapitel abschnitt auflage feber halbjahr liga bundesliga semester spieltag advent senat bezirk lebensjahr stockwerk obergeschoss
    untergeschoss aufl fc fsv sc sinfonie symphonie sonate klavierkonzert violinkonzert streichquartett amtszeit todestag jahrestag hochzeitstag saison og ug jh jhd jhdt halbzeit runde hälfte jahrtausend vorsitzende vorsitzender kor kön mose sam chr thess tim petr joh makk korinther könige
  `,
  seldomFinalHere: `franz bd zi min ct ri span lat russ div zt bed pl reg rel vj drs kü tr lit sc ll bes betr gew verl kl frühest`,
  shortStarters: `vgl ca evtl ggf inkl exkl zzgl insb insbes bspw max min mind lt gem entspr einschl bzgl`,
};

const ENGLISH: ShortFormLists = {
  neverFinal: `
    drs rev hon gen col capt cmdr lt sgt maj sen rep gov pres supt sens reps govs profs atty attys asst mses bldg cpl pvt adm brig rt insp det ofc amb treas cllr msgr messrs mme mlle mgr approx esp eg viz incl excl addl mfrs depts
  `,
  beforeNumber: `
    nos vols figs pg sec ch chap par para ed eq est ref lb lbs oz apt max min exp rs fl pop acct ver cl rm rte hwy inv qty amt mob ph supp ser temp
    matt cor rom eph exod lev deut isa jer heb thess
    jan feb mar apr jun jul aug sep sept oct nov dec
    pt tbl sect arr dep tot ea flt lot pgs chs paras pts cust lic ord
  `,
  seldomFinal: `sr fr ft ave blvd rd ln sq hwy pkwy ct ste dept univ assn bros expy mpls calif fla psy.d ed.d intl natl attn mfg mgmt appt avg misc orig qtr pkg bdrm mtg mfr govt treas secy avail reqd shpt acad assn bldgs apts execs mgmt comm`,
  oftenFinal: `esq hr yr mo wk`,
  seldomFinalAsWritten: `Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Mass Conn Tex Penn Tech Dir Admin Cent`,
  afterTime: `
    eastern central pacific mountain atlantic greenwich universal local standard daylight
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
  `,
  starters: `
    i he she it we you they this that these those there here the a an my your his her its our their
    but and or so if when while after before because since although though however then thus therefore moreover
    what who why where how which whose is are was were do does did can could will would should shall must might has have had
    please yes no not now well okay ok sure great thanks thank sorry welcome hello maybe perhaps also finally later today tomorrow tonight
    yesterday nobody everybody everyone anyone someone nothing something everything some many most every both each several few neither
    either none another once all any only just still even yet again instead otherwise meanwhile next unless until whether despite
    at in on as by for from with to let let's it's that's i'm he's she's we're you're they're don't
    i'll i've i'd you'll you've we'll we've they'll they've he'll she'll it'll there's here's what's who's where's how's
    isn't aren't wasn't weren't doesn't didn't can't cannot couldn't wouldn't won't shouldn't haven't hasn't
    call press dial enter turn take go come visit ask look see check meet bring follow try make keep leave wait say tell give send
    use find click tap contact remember text email continue arrive buy learn join save pay open start stop add choose select enjoy watch listen note
    consider tap scan download upgrade update reply confirm subscribe nothing everyone
  `,
  seldomFinalHere: `ca est cont temps`,
  shortStarters: `approx cf eg ie`,
};

const SPANISH: ShortFormLists = {
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
  seldomFinal: `arch rag cía hnos esc ss bl ave bs fdez glez rdguez hdez mtnez licda pte vda blvr blvd bulev izq izqda izda dcha entlo pral deleg cdad admón ppdo teléf tfno telf tlf móv pzas cód ntro atte cfr univ profa mpio fracc avd s/n cit ibíd ibid blq dto gtos cda cdas uds pto ptos bno vto`,
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
  seldomFinalHere: `fco dres alm gob sen mm trav rda edo prov der esq hab as pta bco inst secr cta cte pdo dto cel obs vv ff incl excl trad ca tab int km ed vers da fr cl pl vid fact ped imp trim sem comp dpto dept cáps comis dest cons rte tur proc rem nac cheq consult mens anual`,
};

const FRENCH: ShortFormLists = {
  neverFinal: `m mm mme mlle mgr pr tél réf env p.ex c.-à-d av bd bld boul adr éd dép cie approx hon gén lt col coll`,
  beforeNumber: `
    nos nº num vols figs pg chap par ed éd ref réf sect ch
    exp bât al chap temp
    janv févr fév avr juil sept oct nov déc lun jeu ven sam dim max min env juill
    ann tab éq ca
  `,
  starters: `
    il elle on ils elles nous vous je tu le la les un une ce cette ces cet mais et ou où si quand puis donc car
    c'est j'ai j'en ça cela depuis aujourd'hui hier demain maintenant ensuite enfin après avant pendant dans sur pour par avec sans chez
    vers selon en leur leurs son sa ses mon ma mes ton ta tes notre votre nos vos tout tous toute toutes chaque plusieurs certains
    beaucoup peu personne rien jamais toujours ici là voici voilà aussi qui que quoi comment pourquoi combien quel quelle quels quelles
    merci bonjour oui non est était sont avait ont il y
    appelez appelle venez viens prenez tournez tapez composez attendez dites entrez sonnez suivez visitez allez regardez appuyez cliquez
    n'oubliez qu'est-ce
  `,
  seldomFinalAsWritten: `Me`,
  seldomFinal: `ste esc sqq civ cass pén trav cdt appt ét asc moy suiv suppl assoc gouv nb qté éts sté rte fg cuill gél cde cpte étg rdv`,
  seldomFinalHere: `com gal arr pl apt resp hab trad incl excl all imp imm sq fact trim sem ann ouv livr rés règl cons exp dest proch préc hebd mens pers escal cp cs mt ht rem dev app`,
  shortStarters: `cf env ex`,
};

const ITALIAN: ShortFormLists = {
  neverFinal: `
    sig sig.ra sig.na sigg dott dott.ssa dott.ri dr.ssa avv prof.ssa proff gent gent.mo gent.ma egr p.es ing geom mons spett spett.le cfr
    l'on l’on dell'on dell’on all'on all’on fisc p.zza p.le v.le c.so l.go f.lli ca
    ades peres
  `,
  beforeNumber: `
    trim op bin rit nn num nº pag pagg artt capp cap voll sez prot tav int lett fig figg temp cell bin
    feb mar apr mag giu lug sett ott nov dic lun mar ven sab dom max min gio
    tab conf
  `,
  seldomFinal: `cia arch rag ss trib sent cass civ magg fraz univ scad escl succ secc energ sott rif approx ibid d.lgs ss.gg cpr gtt fatt`,
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
    pos km gr ord pers imp soc coop cps fl nom conf sped dest mitt forn cli sett ult scont disp ris pz qtà mens dir str nr bil loc pom matt prev`,
  shortStarters: `cfr cf es`,
};

const PORTUGUESE: ShortFormLists = {
  neverFinal: `
    sr sra srta srs sres sras dra dras profa prof.a eng enga cel gen exc exmo exma ilmo ilma pça trav estr p.ex p.ej av lic arq dto sto sta mons aprox
    rev hon esp sen gov ver
  `,
  beforeNumber: `
    nº nos num núm pág págs pag cap caps arts fasc secc séc ed ag cp cps comp cáps exp qtos
    jan fev mar abr jun jul nov dez seg sáb dom max min máx mín figs tít ap apt apto qd lt sl conj temp inc cat ped nf parc
  `,
  seldomFinal: `cia bl dna adv sgt pç lgo jd cj depto qtd qtde sécs att assoc univ inst obs col proc ibid cód unid venc pgto`,
  seldomFinalAsWritten: `Cia Rod Dep Des Pe Dir Min Exa`,
  oftenFinal: `ltda lda s.a`,
  starters: `
    ele ela eles elas o a os as um uma uns umas mas e ou quando então eu nós tu você vocês ninguém tudo todos todas isso isto este esta estes estas esse essa não sim
    depois também além assim segundo se seu sua seus suas meu minha nosso nossa em no na nos nas com por para desde até sem sobre entre
    há é são foi foram era eram está estão será tem têm pode posso que quem como onde qual porque embora enquanto cada outro outra muitos muitas só muito mais
    hoje amanhã ontem agora aqui ali lá já nunca sempre obrigado obrigada olá bom boa
    morreu nasceu viveu veja ligue venha vá pressione prima digite marque aguarde espere tome vire siga visite traga pergunte escreva envie faça lembre
  `,
  seldomFinalHere: `drs gal ten maj alm pres esq dept ee uu desc sa ter qua qui sex res dec da fr tv vl vel ram ped nf fat pg tot parc adm cond lj mun est gts cx pct forn cli end comp cáps mens trim sem comerc resid desc and`,
};

const RUSSIAN: ShortFormLists = {
  neverFinal: `
    т.е напр проф акад др-р им ул пр просп гр тов г-н г-жа пл наб просп пос дер оз гос мкр моб эл респ доц канд зам зав инж
    чл.-корр ост
  `,
  beforeNumber: `
    стр гл рис табл п пп д кв корп доб тел оф эт подп разд абз вып вл пом ок пол нач кон сер ст темп
    янв фев февр апр июн июл авг сен сент окт ноя нояб дек
    под род ум вер авт полуг св капс факс инд сч дог накл инв арт ном прил вн ок кап пн вт сб вс уч прот
  `,
  seldomFinal: `
    г гг обл руб коп тыс млн млрд долл трлн см ср пер мин сек час мес нед дн сут шт чел экз макс ш каб лит ст рт
    прим ред изд полк кап туп илл адр англ нем лат рус урожд сокр соотв спец стд бул ген дир пред фр гор комн прибл орг отд упр деп адм юр физ соц кварт
  `,
  oftenFinal: `т.д т.п др`,
  starters: `
    он она оно они мы вы ты я это этот эта эти тот та те но и а в во на не ни да нет когда потом затем там тут здесь сегодня завтра вчера теперь сейчас если
    чтобы потому что как где кто почему у о об от до из за под над при для без через после перед между по к с со его её их наш ваш мой твой
    все всё весь каждый так также тоже только уже ещё позвоните нажмите приезжайте приходите спасибо пожалуйста здравствуйте добрый
  `,
  seldomFinalHere: `ver`,
};

/** Lower case and without the last full stop; the lists differ in what may follow a real sentence end. */
export interface ShortForms {
  /** Always followed by the rest of the phrase: a name, an example, a number. */
  readonly neverFinal: ReadonlySet<string>;
  /** Not final before a digit ("No. 5", "Fig. 2"); otherwise an ordinary word ("I said no."). */
  readonly beforeNumber: ReadonlySet<string>;
  /** May end a sentence, and then the next word begins one: only one of `starters` proves it. */
  readonly seldomFinal: ReadonlySet<string>;
  /** Like `seldomFinal`, but only in this spelling: "the CIA. Bob", "a rod. Bob". */
  readonly seldomFinalAsWritten: ReadonlySet<string>;
  /** Ends the sentence where a capital follows that is not part of a time or a name. */
  readonly oftenFinal: ReadonlySet<string>;
  /** Words that may follow a time of day within the sentence: "at 3 p.m. Eastern", "5 p.m. Monday". */
  readonly afterTime: ReadonlySet<string>;
  /** Capitalised, these begin a sentence and hardly ever continue a name. */
  readonly starters: ReadonlySet<string>;
  /** Short forms that begin a sentence: 500 v. Chr. Vgl. Kapitel 3. */
  readonly shortStarters: ReadonlySet<string>;
  /** Words before an ordinal with a stop: in "am 3. Oktober" the stop belongs to the number. */
  readonly beforeOrdinal: ReadonlySet<string>;
  /** Words after one. */
  readonly afterOrdinal: ReadonlySet<string>;
}

/**
 * Short forms as they are written down; what is not there is empty. Those of `seldomFinalHere` are seldom
 * final where the language of the text is stated: in another language they are words that end sentences.
 */
type ShortFormLists = Partial<Readonly<Record<keyof ShortForms | 'seldomFinalHere', string>>>;

// Chinese, Japanese and Korean write short forms as others do, if any.
const LISTS: Readonly<Record<string, ShortFormLists>> = {
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  ja: ENGLISH,
  ko: ENGLISH,
  pt: PORTUGUESE,
  ru: RUSSIAN,
  zh: ENGLISH,
};

const known = new Map<string, ShortForms>(); // by language; '' is all of them
const byTag = new Map<string, ShortForms>();
const MOST_TAGS = 200;

/** Returns the short forms of a BCP 47 tag, or of all languages if the tag is absent or unknown. */
export function shortFormsOf(tag = ''): ShortForms {
  const before = byTag.get(tag);
  if (before !== undefined) return before;
  const forms = formsOf(tag);
  if (byTag.size < MOST_TAGS) byTag.set(tag, forms);
  return forms;
}

function formsOf(tag: string): ShortForms {
  const primary = tag.toLowerCase().split(/[-_]/, 1)[0] ?? '';
  const key = Object.hasOwn(LISTS, primary) ? primary : '';
  let forms = known.get(key);
  if (forms === undefined) {
    const own = LISTS[key];
    const lists =
      own === undefined ? Object.values(LISTS) : [own, { seldomFinal: own.seldomFinalHere ?? '' }];
    known.set(key, (forms = joined([INTERNATIONAL, ...lists])));
  }
  return forms;
}

function joined(lists: readonly ShortFormLists[]): ShortForms {
  const words = (name: keyof ShortForms): ReadonlySet<string> =>
    new Set(lists.flatMap((list) => (list[name] ?? '').split(/\s+/)).filter((word) => word !== ''));
  return {
    neverFinal: words('neverFinal'),
    beforeNumber: words('beforeNumber'),
    seldomFinal: words('seldomFinal'),
    seldomFinalAsWritten: words('seldomFinalAsWritten'),
    oftenFinal: words('oftenFinal'),
    afterTime: words('afterTime'),
    starters: words('starters'),
    shortStarters: words('shortStarters'),
    beforeOrdinal: words('beforeOrdinal'),
    afterOrdinal: words('afterOrdinal'),
  };
}
