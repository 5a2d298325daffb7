// The words of each language by which a caller's text shows whether more follows, and whether the caller only
// listens. Native speakers correct these tables; `turn-end.ts` reads them.
//
// Phrases stand between `|`, in lower case and without marks. Languages without spaces between words are
// `dense`: their phrases are endings of the text.

export interface SpokenWords {
  readonly isDense?: true;
  /** Phrases of one who listens to somebody else's voice. A text of only these takes no turn. */
  readonly backchannels: string;
  /** Answers that are whole by themselves, with the courtesies that go with them. */
  readonly answers: string;
  /** More follows these: conjunctions, prepositions, articles, sounds of thinking, parts of addresses. */
  readonly continuing: string;
  /** Endings that are whole although their last word is among `continuing`. */
  readonly whole?: string;
  /** Parts of number words. A word that consists of these is a number. */
  readonly numerals: string;
  /** Numerals that are also other words: they count alone and behind another number. */
  readonly weakNumerals?: string;
  /** A number behind these is a time of day, an age or a price, and whole. */
  readonly beforeTime?: string;
  /** Words of one letter that may end a sentence. Other single letters are spelled. */
  readonly letterWords?: string;
  /** A letter with its name, such as "B as in Bravo": an expression for the end of the text. */
  readonly spelled?: RegExp;
  /** The end of an address whose rest is still to come: an expression for the end of the text. */
  readonly street?: RegExp;
}

// prettier-ignore
export const SPOKEN_WORDS: Readonly<Record<string, SpokenWords>> = {
  en: {
    backchannels: `mhm|mhmm|mm|mmm|mm hmm|mm hm|mmhmm|hm|hmm|hmmm|uh huh|uhhuh|aha|ah|oh|huh|ok|okay|okey|right|alright|
      all right|yeah|yep|yup|sure|i see|yes i see|ah i see|oh i see|got it|gotcha|of course|understood`,
    answers: `yes|yeah|yep|yup|yes sir|no|nope|nah|please|thanks|thank you|correct|right|exactly|absolutely|definitely|
      of course|certainly|sure|ok|okay|alright|all right|that's right|that's correct|that's fine|that is correct|it is|
      it isn't|it's not|i am|i'm not|i do|i don't|i did|i didn't|i have|i haven't|i can|i can't|i will|not really|not yet|
      no problem|mhm|uh huh|goodbye|bye`,
    continuing: `and|or|but|because|cause|so|if|when|while|which|whose|than|as|the|a|an|my|your|his|our|their|to|of|in|
      at|on|for|from|with|by|about|into|between|until|since|without|near|plus|also|very|just|really|like|well|i|i'd|i'm|
      i'll|i've|we|we're|it's|he's|she's|they're|there's|there is|there are|my name's|is|are|was|were|will be|would be|
      to be|has been|have been|i want|i need|i would|would like|i have|we have|i'd like|like to|want to|need to|going to|
      can you|could you|would you|can i|could i|may i|do you|are you|um|umm|uh|uhm|er|erm|ehm|hm|hmm|let me see|let me think|
      let's see|you know|i mean|hold on|one moment|just a moment|one second|just a second|wait|dot|slash|dash|hyphen|
      underscore|double|triple|number|mr|mrs|ms|dr|extension`,
    whole: `come in|check in|log in|sign in|go on|turn on|move on|later on|and so on|it is|that is|he is|she is|this is|they are|
      we are|you are|i am|it was|as well|i'd like to|i want to|me too|i did that|what for|who is|where it is`,
    numerals: `zero|nought|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|
      seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|one|oh`,
    weakNumerals: 'one|oh',
    beforeTime: 'at|around|past|since|in|by|before|after|until|till|age|aged',
    spelled: /(?:^| )(?![ai] )\p{L} (?:as in|for|like) \S+$/u,
    street: /(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|teen|ty)\b.* (?:street|road|avenue|lane|drive|boulevard|square|court|terrace|place|way|crescent|apartment|flat|suite|unit|floor)$/u,
  },
  de: {
    backchannels: `mhm|mhmm|mm|mmm|hm|hmm|hmhm|hm hm|aha|ah|ah ja|ach|ach so|achso|oh|ok|okay|okey|ja|jaja|ja ja|jo|joa|jap|jep|
      genau|gut|alles klar|klar|verstehe|ich verstehe|verstanden|ja verstehe|richtig|stimmt|ach ja|na klar|in ordnung`,
    answers: `ja|jawohl|ja genau|jo|jep|jap|nein|nee|nö|ne|doch|bitte|danke|danke schön|dankeschön|vielen dank|gerne|gern|genau|
      richtig|stimmt|korrekt|klar|natürlich|selbstverständlich|auf jeden fall|auf keinen fall|okay|ok|alles klar|
      in ordnung|das stimmt|das ist richtig|das passt|passt|mhm|tschüss|auf wiederhören`,
    continuing: `und|oder|aber|weil|dass|wenn|ob|denn|sondern|also|sowie|beziehungsweise|der|die|den|dem|des|ein|eine|einen|
      einem|einer|eines|mein|meine|meinen|meinem|meiner|dein|deine|deinen|ihre|ihren|ihrem|unser|unsere|unseren|kein|keine|
      keinen|dieser|diese|diesen|diesem|in|im|am|beim|von|vom|zum|zur|für|gegen|ohne|bis|seit|zwischen|wegen|sehr|ich|wir|
      ich bin|ich habe|ich hätte|ich hätte gern|ich hätte gerne|ich möchte|ich möchte gern|ich möchte gerne|ich würde|
      ich würde gern|ich würde gerne|ich will|ich wollte|ich brauche|ich heiße|ich wohne|ich suche|das ist|es ist|es sind|
      name ist|nummer ist|nummer lautet|adresse ist|adresse lautet|lautet|können sie|könnten sie|kann ich|haben sie|äh|ähm|
      ehm|öh|öhm|hm|hmm|mal sehen|moment|einen moment|sekunde|warten sie|punkt|bindestrich|minus|unterstrich|schrägstrich|
      klammeraffe|ät|at|doppelt|plus|nummer|hausnummer|postleitzahl|herr|frau|dr|doktor|und zwar`,
    whole: `das ist es|das war's`,
    numerals: `null|eins|ein|zwei|zwo|drei|vier|fünf|sechs|sech|sieben|sieb|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|zig|und|
      hundert|tausend|million|millionen`,
    weakNumerals: 'ein|und',
    beforeTime: 'um|gegen|ab|seit|vor|nach|halb|viertel',
    spelled: /(?:^| )\p{L} wie \S+$/u,
    street: /(?:(?:\p{L}straße|\p{L}strasse|\p{L}str|\p{L}{2}weg|\p{L}{2}platz|\p{L}{2}allee|\p{L}{2}gasse|\p{L}{2}ring|\p{L}{2}ufer|\p{L}{2}damm)| straße| allee)$/u,
  },
  fr: {
    backchannels: `mhm|mm|mmm|hm|hmm|hum|hum hum|hm hm|ah|ah bon|ah oui|ah d'accord|oh|euh oui|ok|okay|d'accord|d'acc|oui|oui oui|
      ouais|mouais|voilà|bien|très bien|je vois|entendu|bien sûr|exactement|tout à fait|c'est ça|ça marche|compris`,
    answers: `oui|ouais|si|non|non non|oui oui|s'il vous plaît|s'il te plaît|merci|merci beaucoup|non merci|oui merci|
      d'accord|ok|okay|exactement|tout à fait|bien sûr|c'est ça|c'est bien ça|absolument|voilà|parfait|jamais|pas encore|
      pas du tout|au revoir`,
    continuing: `et|ou|mais|parce que|parce|car|que|qui|quand|si|donc|alors|puis|le|la|les|l'|un|une|des|du|de|d'|au|aux|à|en|
      dans|sur|sous|chez|pour|par|avec|sans|entre|vers|depuis|jusqu'à|mon|ma|mes|ton|ta|tes|votre|vos|notre|nos|leur|leurs|ce|
      cet|cette|ces|je|j'|il|elle|on|très|plus|aussi|je suis|j'ai|je voudrais|j'aimerais|je veux|je cherche|j'habite|
      c'est|il y a|mon nom est|je m'appelle|numéro est|adresse est|nom est|est|sont|pouvez vous|est ce que|est-ce que|euh|
      heu|hum|ben|bah|alors voyons|voyons|attendez|un instant|un moment|une seconde|point|tiret|arobase|slash|
      numéro|monsieur|madame|docteur|double`,
    whole: `je suis là|c'est elle|c'est lui|moi aussi|non plus|de plus|en plus|il n'y en a plus|je n'en veux plus|oui elle est`,
    numerals: `zéro|un|une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|vingts|
      trente|quarante|cinquante|soixante|septante|huitante|nonante|cent|cents|mille|million|millions|et`,
    weakNumerals: 'un|une|et|neuf',
    beforeTime: 'à|vers|depuis|avant|après|dès',
    letterWords: 'a|y',
    spelled: /(?:^| )(?![ay] )\p{L} comme \S+$/u,
    street: /(?:^| )(?:rue|avenue|boulevard|place|chemin|allée|impasse|quai|route|square)(?: \S+){1,4}$/u,
  },
  es: {
    backchannels: `mhm|mm|mmm|hm|hmm|ajá|aja|ah|ah sí|oh|ok|okay|okey|sí|si|sí sí|si si|claro|claro que sí|vale|vale vale|ya|ya veo|
      bueno|bien|muy bien|de acuerdo|entiendo|ya entiendo|entendido|correcto|exacto|perfecto`,
    answers: `sí|si|no|no no|sí sí|por favor|gracias|muchas gracias|no gracias|sí gracias|claro|claro que sí|claro que no|vale|ok|
      okay|de acuerdo|exacto|correcto|así es|eso es|por supuesto|perfecto|nunca|todavía no|adiós`,
    continuing: `y|e|o|u|pero|porque|que|cuando|si es|aunque|pues|entonces|el|la|los|las|un|una|unos|unas|de|del|a|al|en|con|sin|
      para|por|sobre|entre|hasta|desde|hacia|mi|mis|tu|tus|su|sus|nuestro|nuestra|este|esta|ese|esa|yo|muy|más|también|
      es|son|está|soy|estoy|tengo|quiero|quisiera|necesito|busco|vivo|me llamo|mi nombre es|número es|dirección es|me gustaría|
      puede|podría|puedo|hay|eh|em|este|esto|mmm|a ver|déjeme ver|espere|un momento|un segundo|punto|guion|guión|arroba|
      barra|número|señor|señora|doctor|doctora|doble|más`,
    whole: `aquí está|ya está|así es|eso es|ahí está|yo también|no más|nada más|yo soy|sí hay|no hay|creo que sí`,
    numerals: `cero|uno|un|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci|séis|
      veinti|veinte|dós|trés|ún|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien|ciento|cientos|cientas|
      quinientos|mil|millón|millones|y`,
    weakNumerals: 'un|una|uno|y',
    beforeTime: 'las|la|desde|hacia|sobre',
    spelled: /(?:^| )(?![aeouy] )\p{L} de \S+$/u,
    street: /(?:^| )(?:calle|avenida|plaza|paseo|camino|carretera|ronda)(?: \S+){1,4}$/u,
  },
  it: {
    backchannels: `mhm|mm|mmm|hm|hmm|eh|eh sì|ah|ah sì|oh|ok|okay|okey|sì|si|sì sì|si si|certo|va bene|bene|d'accord|d'accordo|capisco|
      ho capito|capito|esatto|giusto|già|perfetto`,
    answers: `sì|si|no|no no|sì sì|per favore|prego|grazie|grazie mille|no grazie|sì grazie|certo|certamente|esatto|giusto|
      va bene|d'accordo|ok|okay|perfetto|mai|non ancora|arrivederci`,
    continuing: `e|ed|o|oppure|ma|però|perché|che|quando|se|quindi|allora|poi|il|lo|la|i|gli|le|l'|un|uno|una|un'|di|del|dello|
      della|dei|degli|delle|a|al|allo|alla|ai|alle|da|dal|dalla|in|nel|nella|con|su|sul|sulla|per|tra|fra|senza|fino a|
      mio|mia|miei|mie|tuo|tua|suo|sua|nostro|nostra|questo|questa|io|molto|più|anche|è|sono|ho|ho bisogno|vorrei|voglio|cerco|
      abito|mi chiamo|il mio nome è|numero è|indirizzo è|può|potrebbe|posso|c'è|ci sono|ehm|uhm|mmm|cioè|vediamo|
      aspetti|un attimo|un momento|un secondo|punto|trattino|chiocciola|barra|numero|signor|signora|dottor|doppia`,
    whole: `anch'io|eccolo qui|così è|ci sono|sono io|non più|non lo so|di più|non c'è|va bene così`,
    numerals: `zero|uno|un|una|due|tre|tré|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|tredici|quattordici|quindici|
      sedici|diciassette|diciotto|diciannove|venti|vent|trenta|trent|quaranta|quarant|cinquanta|cinquant|sessanta|sessant|
      settanta|settant|ottanta|ottant|novanta|novant|cento|mille|mila|milione|milioni`,
    weakNumerals: 'un|uno|una|sei',
    beforeTime: 'alle|dalle|verso|ore',
    spelled: /(?:^| )(?![aeio] )\p{L} (?:come|di) \S+$/u,
    street: /(?:^| )(?:via|viale|piazza|corso|largo|vicolo|strada)(?: \S+){1,4}$/u,
  },
  pt: {
    backchannels: `mhm|mm|mmm|hm|hmm|uhum|aham|ahã|ah|ah sim|oh|ok|okay|sim|sim sim|tá|tá bom|tá bem|está bem|está bom|certo|claro|
      pois|pois é|bom|muito bem|entendi|entendo|percebo|percebi|exato|exatamente|beleza|isso`,
    answers: `sim|não|não não|sim sim|é|é sim|por favor|obrigado|obrigada|muito obrigado|não obrigado|não obrigada|
      sim obrigado|claro|claro que sim|claro que não|com certeza|certo|exato|exatamente|isso|isso mesmo|ok|okay|tá bom|
      está bem|nunca|ainda não|tchau`,
    continuing: `e|ou|mas|porque|que|quando|se|então|depois|o|a|os|as|um|uma|uns|umas|de|do|da|dos|das|em|no|na|nos|nas|ao|à|aos|
      às|com|sem|para|pra|por|pelo|pela|sobre|entre|até|desde|meu|minha|meus|minhas|teu|tua|seu|sua|nosso|nossa|este|esta|esse|
      essa|eu|muito|mais|também|são|está|sou|estou|tenho|quero|queria|gostaria|gostaria de|preciso|preciso de|procuro|
      moro|moro na|meu nome é|me chamo|número é|endereço é|morada é|pode|poderia|posso|há|hum|ahn|éh|bem|deixa ver|
      deixe ver|espera|espere|um momento|um instante|ponto|hífen|traço|arroba|barra|número|senhor|senhora|doutor|dupla`,
    whole: `eu também|não mais|nada mais|já está|aqui está|sou eu|muito bem|está bem|não há|tudo bem`,
    numerals: `zero|um|uma|dois|duas|três|quatro|cinco|seis|meia|sete|oito|nove|dez|onze|doze|treze|catorze|quatorze|quinze|
      dezesseis|dezasseis|dezessete|dezassete|dezoito|dezenove|dezanove|vinte|trinta|quarenta|cinquenta|sessenta|setenta|
      oitenta|noventa|cem|cento|duzentos|trezentos|quatrocentos|quinhentos|mil|milhão|milhões|e`,
    weakNumerals: 'um|uma|meia|e',
    beforeTime: 'às|as|à|desde|pelas',
    letterWords: 'é',
    spelled: /(?:^| )(?![aeo] )\p{L} de \S+$/u,
    street: /(?:^| )(?:rua|avenida|praça|travessa|alameda|estrada|largo)(?: \S+){1,4}$/u,
  },
  nl: {
    backchannels: `mhm|mm|mmm|hm|hmm|hm hm|ah|ah ja|aha|oh|o ja|oké|ok|okay|okee|ja|ja ja|jaja|jawel|juist|precies|goed|prima|
      klopt|duidelijk|begrepen|ik begrijp het|ik snap het|natuurlijk|tuurlijk`,
    answers: `ja|jawel|nee|nee hoor|ja hoor|alstublieft|alsjeblieft|graag|ja graag|dank u|dank je|dank u wel|dank je wel|bedankt|
      nee dank u|nee dank je|klopt|dat klopt|juist|precies|zeker|natuurlijk|oké|ok|okay|prima|nooit|nog niet|tot ziens`,
    continuing: `en|of|maar|omdat|want|dat|die|als|dus|dan|toen|de|het|een|mijn|m'n|jouw|uw|zijn|haar|ons|onze|hun|deze|dit|
      in|op|van|voor|met|bij|naar|uit|aan|tot|zonder|tussen|sinds|vanaf|tegen|ik|wij|we|heel|erg|ook|nog|ik ben|ik heb|
      ik wil|ik wil graag|ik zou|ik zou graag|ik moet|ik zoek|ik woon|ik heet|naam is|nummer is|adres is|het is|dat is|
      kunt u|kun je|kan ik|heeft u|mag ik|eh|ehm|euh|uh|uhm|hm|hmm|even kijken|even denken|wacht|momentje|een moment|punt|
      streepje|apenstaartje|schuine streep|nummer|huisnummer|postcode|meneer|mevrouw|dokter|dubbel|plus`,
    whole: `dat is het|dat was het|ik ook|nog niet|niet meer|waar is het|ik wil dat|ik wil dit`,
    numerals: `nul|een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf|dertien|veertien|dertig|veertig|twintig|
      tachtig|tig|en|ën|honderd|duizend|miljoen`,
    weakNumerals: 'een|en',
    beforeTime: 'om|rond|tegen|half|kwart|sinds|vanaf',
    letterWords: 'u',
    spelled: /(?:^| )\p{L} (?:van|als) \S+$/u,
    street: /\p{L}{2}(?:straat|laan|weg|plein|gracht|kade|dreef|singel)$/u,
  },
  ru: {
    backchannels: `угу|ага|мм|ммм|м|хм|гм|мгм|угу угу|ага ага|а|ах|о|ой|ок|окей|да|да да|так|так так|ну да|понятно|понял|поняла|
      ясно|хорошо|ладно|конечно|точно|верно|вот как`,
    answers: `да|нет|нет нет|да да|пожалуйста|спасибо|большое спасибо|нет спасибо|да спасибо|да пожалуйста|конечно|
      разумеется|точно|верно|правильно|хорошо|ладно|ок|окей|никогда|ещё нет|до свидания`,
    continuing: `и|или|но|а|потому что|что|чтобы|когда|если|то|поэтому|в|во|на|с|со|к|ко|у|о|об|из|от|до|для|по|за|под|над|при|
      без|между|через|около|мой|моя|моё|мои|мою|моего|твой|ваш|ваша|наш|наша|этот|эта|очень|ещё|также|меня зовут|мне нужен|
      мне нужна|мне нужно|мне надо|я хочу|я хотел|я хотела|я хотел бы|я хотела бы|хотел бы|хотела бы|я ищу|я живу|номер|
      мой номер|адрес|мой адрес|это|можно|можете|вы можете|э|эм|ээ|эээ|мм|ммм|ну|значит|как бы|сейчас|секунду|минуту|
      подождите|минутку|точка|дефис|тире|собака|слэш|плюс|господин|госпожа|доктор|телефон|индекс`,
    whole: `вот это|и это|всё это|что это|как это|не надо|вы можете|можно|я знаю что|это всё`,
    numerals: `ноль|нуль|один|одна|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|одиннадцать|двенадцать|тринадцать|
      четырнадцать|пятнадцать|шестнадцать|семнадцать|восемнадцать|девятнадцать|двадцать|тридцать|сорок|пятьдесят|
      шестьдесят|семьдесят|восемьдесят|девяносто|сто|двести|триста|четыреста|пятьсот|шестьсот|семьсот|восемьсот|девятьсот|
      тысяча|тысячи|тысяч`,
    weakNumerals: 'один|одна',
    beforeTime: 'к|после|около|с|до',
    letterWords: 'я|а|о',
    spelled: /(?:^| )(?![авикосуя] )\p{L} как \S+$/u,
    street: /(?:^| )(?:улица|улице|ул|проспект|проспекте|переулок|бульвар|шоссе|площадь)(?: \S+){1,3}$/u,
  },
  zh: {
    isDense: true,
    backchannels: `嗯|嗯嗯|嗯哼|唔|哦|噢|喔|啊|呃|哎|好|好的|好好|好吧|是|是的|是是|是啊|对|对的|对对|对啊|對|對的|行|没错|沒錯|明白|明白了|
      知道了|我知道了|了解|原来如此|这样啊|這樣啊|这样|ok|okay`,
    answers: `是|是的|是啊|对|对的|對|對的|不|不是|不是的|不对|不對|没有|沒有|有|有的|好|好的|好啊|可以|不可以|行|不行|不用|不用了|不要|要|
      谢谢|謝謝|不用谢|请|請|没错|沒錯|当然|當然|是我|没问题|沒問題|再见|再見`,
    continuing: `和|跟|与|與|以及|还有|還有|然后|然後|但是|可是|不过|因为|因為|所以|如果|而且|或者|或|就是|就是说|的话|在|到|从|從|把|给|給|对于|关于|
      我|我想|我要|想去|要去|我想要|我是|我的|我们|他|她|它是|你的|您的|这个|那个|這個|那個|一个|是个|号码是|电话是|名字是|名字叫|我叫|地址是|住在|
      嗯那个|呃|额|那|杠|艾特|等一下|等等|我想想|让我想想|请问|需要|帮我|想问|想问一下|先生姓|叫做`,
    whole: `谢谢你的|好的|是的|对的|有的|可以的|不是的|是多少|号码是多少|多少|给我|告诉我|联系我|找我|等我|问我`,
    numerals: '零〇一二三四五六七八九十百千万萬两兩幺',
    street: /(?:路|街|大道|巷|弄|\p{N}号|\p{N}號|[一二三四五六七八九十]号|楼|栋|单元|小区)$/u,
  },
  ja: {
    isDense: true,
    backchannels: `はい|はいはい|ええ|うん|うんうん|ふん|ふーん|へえ|へー|ほう|ああ|あー|あっ|おお|なるほど|そうですか|そうですね|そうですねえ|そう|
      そうなんですか|そうなんですね|そっか|わかりました|分かりました|了解です|了解|承知しました|ですね|確かに|オッケー|オーケー|ok|okay`,
    answers: `はい|はいそうです|いいえ|いや|いえ|ええ|うん|ううん|そうです|そうですね|違います|ちがいます|お願いします|おねがいします|はいお願いします|結構です|
      けっこうです|いりません|大丈夫です|わかりました|分かりました|ありがとう|ありがとうございます|もちろん|もちろんです|いいです|いいですよ|だめです|
      ありません|あります|失礼します`,
    continuing: `は|が|を|に|へ|で|と|も|の|や|から|まで|より|けど|けれど|けれども|ので|のに|て|って|たら|なら|ば|し|そして|それから|それと|でも|しかし|また|
      あと|えっと|えーと|ええと|えと|あの|あのー|そのー|その|うーん|んー|まあ|少々|ちょっと待って|待ってください|番号は|名前は|住所は|電話番号は|ドット|
      アットマーク|ハイフン|点|というか|私|僕|この|とか|株式会社|様`,
    whole: `ですけど|ますけど|ますから|ですから|んですけど|もの|ものの|までに|待って|どこで|なんて`,
    numerals: '零〇一二三四五六七八九十百千万ゼロ',
    street: /(?:丁目|番地|\p{N}番|\p{N}号|[一二三四五六七八九十]番|[一二三四五六七八九十]号|通り)$/u,
  },
  ko: {
    isDense: true,
    backchannels: `네|네네|예|예예|응|응응|어|음|흠|아|아하|아네|아예|오|그래|그래요|그렇군요|그렇죠|그렇구나|맞아요|맞습니다|알겠어요|알겠습니다|알았어요|
      좋아요|오케이|ok|okay`,
    answers: `네|네네|예|예예|응|아니요|아니오|아뇨|아니|아닙니다|네맞아요|맞아요|맞습니다|그래요|그렇습니다|좋아요|좋습니다|괜찮아요|괜찮습니다|됐어요|
      됐습니다|없어요|없습니다|있어요|있습니다|부탁해요|부탁드립니다|네부탁드립니다|고마워요|감사합니다|고맙습니다|물론이죠|물론입니다|안녕히계세요`,
    continuing: `그리고|그런데|근데|하지만|그래서|그러면|그럼|또는|혹은|하고|이랑|랑|와|과|은|는|이|가|을|를|에|에서|에게|한테|께|의|도|으로|로|부터|까지|보다|처럼|
      만|고|서|면|니까|는데|은데|지만|려고|저|제|저는|제가|제이름은|번호는|주소는|전화번호는|음|어|그|저기|그게|그러니까|잠깐만|잠시만요|잠시만|글쎄|
      점|골뱅이|하이픈|더블`,
    whole: `있고|안녕하세요|네음|그만|얼마`,
    numerals: '영공일이삼사오육칠팔구십백천만',
    street: /(?:\p{N}번지|\p{N}번길|번길|번지|\p{N}호|\p{N}동|\p{L}대로|\p{L}로 ?\p{N}+)$/u,
  },
};
