// Small words that tell the European languages apart, as data.
//
// Telling words are those that a sentence can hardly do without (pronouns,
// auxiliaries, negation, question words, courtesies) and that neither English
// nor a name, dish or company borrows. Linking words also appear in names
// ("de la", "der"), so alone they prove nothing.

export type LatinLanguage = 'de' | 'fr' | 'pt' | 'es' | 'it';

export interface LanguageWords {
  readonly telling: ReadonlySet<string>;
  readonly linking: ReadonlySet<string>;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

export const LANGUAGE_WORDS: Readonly<Record<LatinLanguage, LanguageWords>> = {
  de: {
    telling: words(`
      ich wir ihr ihnen ihm ihre ihren ihrem ihrer mein meine meinen meiner dein deine deinen unser unsere unseren
      sie du dich mich mir dir uns euch sich ist sind bin bist sein seine seinen seit wird werden wurde wurden worden
      habe haben hast hatte hatten kann können konnte konnten muss müssen musste soll sollte sollten möchte möchten
      nicht kein keine keinen keiner nichts nie niemand und oder aber sondern denn weil dass ob wenn als wie wo wer
      warum wann wohin welche welcher welches auch noch schon nur sehr immer heute morgen gestern jetzt hier dort dann
      bitte danke guten gute tag hallo ja nein es er einen einem einer eines dieser diese dieses diesen jeder jede
      gibt geht gehen macht machen kommt kommen sagt sagen weiß viel viele mehr wieder durch über unter nach vor
      beim zum zur vom hinter zwischen gegen ohne um
    `),
    linking: words(`der die das den dem des ein eine und von mit für auf bei aus zu im am an in`),
  },
  fr: {
    telling: words(`
      je tu il elle nous vous ils elles j' c' n' qu' s' m' t' ça cela ceci ce cet cette ces c'est est sont suis êtes
      sommes était étaient être été ai avons avez ont avait avoir fait faire fais font peux peut peuvent pouvez pouvoir
      veux veut voulez voudrais dois doit devez faut va vais allez vont aller ne pas jamais rien personne plus que qui
      quoi quand où comment pourquoi combien quel quelle quels quelles mais donc car parce si alors puis aussi encore
      déjà toujours très trop beaucoup peu bien ici là maintenant aujourd'hui hier demain merci bonjour bonsoir salut
      monsieur madame oui mon ma mes ton ta tes notre nos votre vos leur leurs tout tous toute toutes avec sans dans
      pour par sur sous chez depuis pendant avant après entre autre autres même chaque une
    `),
    linking: words(`le la les un une des du de et à au aux en a l' d' ou dans sur pour avec`),
  },
  es: {
    telling: words(`
      yo tú él ella nosotros ustedes usted ellos ellas mí ti le les lo nos se te es está están estoy estás estamos son
      soy eres somos era eran fue fueron ser estar hay había tengo tiene tienes tienen tenemos tener ha han hemos
      puedo puede pueden puedes poder quiero quiere quieres quisiera debe deben hacer hace hago va voy van vamos qué
      que quién quien cuándo cuando dónde donde cómo como cuál cuánto cuánta por porque pero si sí también ya muy más
      menos mucho mucha muchos muchas todo toda todos todas nada nunca siempre aquí allí ahora hoy ayer mañana gracias
      hola buenos buenas días noches favor mi mis tu tus su sus nuestro nuestra este esta esto estos estas ese esa eso
      una unos unas sin sobre hasta desde entre me gusta gustaría llegó llega señor señora
    `),
    linking: words(`el la los las un una de del y en con para al a o no`),
  },
  pt: {
    telling: words(`
      eu você vocês ele ela eles elas nós lhe isso isto aquilo é são está estão estou estamos era foi foram ser estar
      há tenho tem têm temos ter tinha posso pode podem poder quero quer queria deve devem fazer faz vai vou vão vamos
      não nunca nada sempre que quem quando onde como qual quanto quantos por porque mas se sim também já muito muita
      muitos muitas mais menos tudo todo toda todos todas aqui ali lá agora hoje ontem amanhã obrigado obrigada olá
      bom boa dia noite favor meu minha meus minhas seu sua seus suas nosso nossa este esta esse essa uma umas sem
      sobre até desde entre pelo pela pelos pelas num numa ao aos às gosto gostaria fala falo senhor senhora
    `),
    linking: words(`o a os as um uma de do da dos das e em no na nos nas com para à`),
  },
  it: {
    telling: words(`
      io tu lui lei noi voi loro mi ti si lo gli è sono sei siamo siete era erano stato stata essere ho hai ha
      abbiamo avete hanno aveva avere posso può puoi possono potere voglio vuole vuoi vorrei deve devo devono fare fa
      faccio va vado vanno andare non mai niente nulla sempre che chi quando dove come quale quanto quanti perché ma
      se sì anche già molto molta molti molte più meno tutto tutta tutti tutte qui lì là adesso ora oggi ieri domani
      grazie ciao buongiorno buonasera prego favore mio mia miei mie tuo tua suo sua nostro nostra questo questa
      questi queste quello quella una uno senza sopra fino fra tra c'è dov'è cos'è piace signor signora nel nella nei
      nelle sul sulla dal dalla al alla ai alle del della dei delle degli
    `),
    linking: words(
      `il lo la i gli le un una di da in con su per e ed o a del della l' d' dell' all' un' ci vi`,
    ),
  },
};

/** Words of English sentences; those that another language shares are left out of its proof. */
export const ENGLISH_WORDS = words(`
  i you he she it we they me him her us them my your his its our their mine yours this that these those
  is are was were be been being am do does did done have has had having can could will would shall should may might must
  not no yes and or but if then else because although while when where who what which why how than as so
  the a an of to in on at by for from with without about into over under between after before during through up down out
  there here all any both each few more most other some such only own same too very just also now again once
  please thank thanks hello hi ha ho er um let's don't i'm it's that's
  baby one two three four five six seven eight nine ten first second last next new
  die war hat man also art an was see tag mal so gut du or pour son on comment pain chat champ come male sale
  me no sin pan red as do no se a dove fare fine more pasta mia via per vs dame notes note page table plus si
  van hay font dir vie et al non la le les los las el del
`);
