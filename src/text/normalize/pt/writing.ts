// Written forms of Portuguese, as data.
import { greekLetters } from '../greek.js';
import { currencies, magnitudes, nounTables } from '../iberian/nouns.js';
import {
  adjectiveBehind,
  beforeDigit,
  beforeName,
  beforeNumberOf,
  textBefore,
  textBehind,
  timesSign,
  titleBehind,
  unlessDigit,
} from '../iberian/sayings.js';
import type { Currency, Magnitude, Noun, Saying, Writing } from '../language.js';
import { genderOf } from './grammar.js';

// Portuguese units, currencies and magnitudes: the singular, then the plural, and the gender.

export const { noun, units } = nounTables((word) => `${word}s`, /^(?:quadrad|cúbic)/);

const MAGNITUDES: Readonly<Record<string, Magnitude>> = magnitudes([
  ['mil,k,K', 'mil', 'mil', 3],
  ['mil milhões', 'mil milhões', 'mil milhões', 9],
  ['milhão,milhões,M,mi,mi.,MM', 'milhão', 'milhões', 6],
  ['bilhão,bilhões,bi,bi.,B', 'bilhão', 'bilhões', 9],
  ['trilhão,trilhões,tri', 'trilhão', 'trilhões', 12],
  ['bilião,biliões', 'bilião', 'biliões', 12],
]);

const MINOR: Readonly<Record<string, Noun>> = {
  EUR: noun('cêntimo'),
  GBP: noun('pêni|pence'),
  CHF: noun('cêntimo'),
  USD: noun('centavo'),
};
const WITHOUT_MINOR = new Set(['JPY', 'KRW', 'CLP', 'BTC', 'ETH', 'CENT', 'CENTIMO']);
// prettier-ignore
const NAMES: Readonly<Record<string, string>> = {
  BRL: 'real|reais', USD: 'dólar|dólares', EUR: 'euro', GBP: 'libra f', JPY: 'iene', CNY: 'yuan', INR: 'rupia f', KRW: 'won|wons',
  RUB: 'rublo', CHF: 'franco suíço|francos suíços', CAD: 'dólar canadense|dólares canadenses',
  AUD: 'dólar australiano|dólares australianos', MXN: 'peso mexicano|pesos mexicanos',
  ARS: 'peso argentino|pesos argentinos', CLP: 'peso chileno|pesos chilenos', COP: 'peso colombiano|pesos colombianos',
  UYU: 'peso uruguaio|pesos uruguaios', PYG: 'guarani|guaranis', AOA: 'kwanza', MZN: 'metical|meticais', CVE: 'escudo',
  SEK: 'coroa sueca|coroas suecas f', NOK: 'coroa norueguesa|coroas norueguesas f', DKK: 'coroa dinamarquesa|coroas dinamarquesas f',
  PLN: 'zloty|zlotys', TRY: 'lira turca|liras turcas f', ILS: 'shekel|shekels', ZAR: 'rand|rands', BTC: 'bitcoin|bitcoins',
  ETH: 'ether|ethers', CENT: 'centavo', CENTIMO: 'cêntimo', PESO: 'peso',
};

const CURRENCIES: Readonly<Record<string, Currency>> = currencies(NAMES, noun, {
  own: MINOR,
  usual: noun('centavo'),
  without: WITHOUT_MINOR,
});

// Portuguese short forms that are said in full. A form in small letters is also found with a capital.

const ofWoman = titleBehind(new Set(['a', 'à', 'da', 'na', 'pela', 'uma', 'senhora']));
const inGender = adjectiveBehind(new Set(['a', 'uma']), genderOf);
const times = timesSign('por', 'vezes');

/** D. Pedro, D. Maria. */
const dom: Saying = ({ nextWord }) => {
  if (!/^\p{Lu}\p{Ll}/u.test(nextWord)) return undefined;
  return /^(?:\p{L}+a|Isabel|Leonor|Beatriz|Inês)$/u.test(nextWord) ? 'dona' : 'dom';
};

/** "Ex.: …" and "(ex. …", but not "meu ex." */
const example: Saying = (around) =>
  /^ ?:/.test(textBehind(around, 2)) || textBefore(around, 1) === '(' ? 'exemplo' : undefined;

/** Al. "a" of a law. */
const paragraph: Saying = (around) =>
  /^ ?["“«'‘]?[a-z]["”»'’)](?!\p{L})/u.test(textBehind(around, 4)) ? 'alínea' : undefined;

/** De seg. a sex. */
function weekday(name: string): Saying {
  return ({ previousWord }) => (/^(?:a|à|ao|e|na|no)$/.test(previousWord) ? name : undefined);
}

/** 2,3% a.a. */
function behindPercent(words: string): Saying {
  return (around) => (/(?:%|\bcento) ?$/.test(textBefore(around, 7)) ? words : undefined);
}

// prettier-ignore
const TITLES: Readonly<Record<string, Saying>> = {
  'Sr.': 'senhor', 'Sra.': 'senhora', 'Srs.': 'senhores', 'Sras.': 'senhoras', 'Srta.': 'senhorita', 'Sr.ª': 'senhora', 'sr.': 'senhor',
  'sra.': 'senhora', Sr: beforeName('senhor'), Sra: beforeName('senhora'), 'D.': dom, 'Da.': beforeName('dona'), 'D.ª': 'dona', Dª: 'dona',
  'Dna.': 'dona', 'Dr.': 'doutor', 'Dra.': 'doutora', 'Drs.': 'doutores', 'Dr.ª': 'doutora', Dr: beforeName('doutor'),
  Dra: beforeName('doutora'), 'Prof.': ofWoman('professor'), 'Profa.': 'professora', 'Prof.ª': 'professora', Profª: 'professora',
  'Eng.': ofWoman('engenheiro'), 'Enga.': 'engenheira', 'Eng.º': 'engenheiro', 'Eng.ª': 'engenheira', 'Arq.': ofWoman('arquiteto'),
  'Adv.': ofWoman('advogado'),
  'Gen.': 'general', 'Gal.': 'general', 'Cel.': beforeName('coronel'), 'Cap.': beforeName('capitão'), 'Ten.': 'tenente', 'Sgt.': 'sargento',
  'Maj.': 'major', 'Alm.': 'almirante', 'Gov.': ofWoman('governador'), 'Pres.': 'presidente', 'Dep.': ofWoman('deputado'),
  'Sen.': ofWoman('senador'), 'Des.': beforeName('desembargador'),
  'Min.': beforeName('ministro'), 'Pe.': 'padre', 'Fr.': beforeName('frei'), 'Exmo.': 'excelentíssimo', 'Exma.': 'excelentíssima',
  'Ilmo.': 'ilustríssimo', 'Ilma.': 'ilustríssima', 'V. Ex.ª': 'vossa excelência', 'V. Exa.': 'vossa excelência',
  'N. Sra.': 'Nossa Senhora', 'Mons.': 'monsenhor', 'S. Exa.': 'sua excelência', 'S. Ex.ª': 'sua excelência', 'N. Sr.': 'Nosso Senhor', 'V. Sa.': 'vossa senhoria', 'Sto.': 'Santo', 'Sta.': 'Santa', 'S.': beforeName('São'),
};

// prettier-ignore
const PLACES: Readonly<Record<string, Saying>> = {
  'R.': beforeName('rua'), 'Av.': 'avenida', 'av.': 'avenida', Av: beforeName('avenida'), 'Al.': beforeName('alameda'), 'Pça.': 'praça',
  'Pç.': 'praça', 'Trav.': 'travessa', 'Tv.': beforeName('travessa'), 'Rod.': 'rodovia', 'Estr.': 'estrada', 'Lgo.': 'largo',
  'Jd.': 'jardim', 'Vl.': beforeName('vila'), 'Cj.': 'conjunto', 'Conj.': 'conjunto', 'Ed.': beforeName('edifício'), 'bl.': 'bloco',
  'Qd.': 'quadra', 'Lt.': 'lote', 'apto.': 'apartamento', apto: beforeDigit('apartamento'), Apto: beforeDigit('apartamento'),
  'ap.': 'apartamento', 'apt.': 'apartamento', 's/n': 'sem número',
  's/nº': 'sem número', 'S/N': 'sem número', 'esq.': 'esquerdo', 'dto.': 'direito',
};

// prettier-ignore
const OFFICE: Readonly<Record<string, Saying>> = {
  'depto.': 'departamento', 'Dept.': 'departamento', 'Cia.': 'companhia', Cia: 'companhia', 'Ltda.': 'limitada', 'Lda.': 'limitada',
  'S. A.': 'S A', 'S/A': 'S A', 'Univ.': 'universidade', 'Inst.': 'instituto', 'Assoc.': 'associação', 'obs.': 'observação',
  'ref.': 'referência', 'tel.': 'telefone', tel: beforeNumberOf('telefone'), Tel: beforeNumberOf('Telefone'), 'cel.': 'celular',
  'qtd.': 'quantidade', 'qtde.': 'quantidade', 'c/c': 'conta-corrente',
  'c/': unlessDigit('com', 'a cada'), 'p/': 'para', 's/': 'sem', 'AT&T': 'A T e T', 'P&D': 'P e D', 'n/a': 'não se aplica', 'N/A': 'não se aplica',
};

// prettier-ignore
const RUNNING_TEXT: Readonly<Record<string, Saying>> = {
  'etc.': 'et cétera', etc: 'et cétera', 'p. ex.': 'por exemplo', 'ex.': example, 'i. e.': 'isto é', 'vs.': 'versus', vs: 'versus',
  'aprox.': 'aproximadamente', 'máx.': inGender('máximo'), 'mín.': inGender('mínimo'), 'cf.': 'conforme', 'n.º': 'número', nº: 'número',
  'núm.': 'número',
  Ø: 'diâmetro', 'Proc. nº': 'processo número', 'Proc. n.º': 'processo número', 'et al.': 'e outros', 'ibid.': 'ibidem', 'vel.': 'velocidade', 'Vel.': 'Velocidade', 'al.': paragraph,
  'pág.': 'página', 'págs.': 'páginas', 'a. C.': 'antes de Cristo', 'd. C.': 'depois de Cristo', 'P. S.': 'P S', 'e/ou': 'e ou',
  'E/OU': 'e ou', 'EE. UU.': 'Estados Unidos', EUA: 'Estados Unidos', 'E.U.A.': 'Estados Unidos', 'séc.': 'século', 'sécs.': 'séculos',
  'seg.': weekday('segunda'), 'ter.': weekday('terça'), 'qua.': weekday('quarta'), 'qui.': weekday('quinta'), 'sex.': weekday('sexta'),
  'sáb.': weekday('sábado'), 'dom.': weekday('domingo'), 'desc.': 'desconto', 'Ag.': beforeDigit('agência'),
  'ag.': beforeDigit('agência'), 'Att.': 'atenciosamente', 'att.': 'atenciosamente', 'a.a.': behindPercent('ao ano'),
  'a.m.': behindPercent('ao mês'), 'a.d.': behindPercent('ao dia'), x: times, vc: 'você', vcs: 'vocês', pq: 'porque', tb: 'também',
};

const GREEK = greekLetters(
  'alfa beta gama delta épsilon zeta eta teta iota capa lambda mi ni csi ômicron pi rô sigma tau úpsilon fi qui psi ômega',
);

const ABBREVIATIONS = { ...TITLES, ...PLACES, ...GREEK, ...OFFICE, ...RUNNING_TEXT };

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

function after(list: string, kind: 'cardinal' | 'ordinal'): [string, 'cardinal' | 'ordinal'][] {
  return list
    .trim()
    .split(/\s+/)
    .map((word) => [word, kind]);
}

// prettier-ignore
export const WRITING: Writing = {
  numbers: { decimal: ',', grouping: ['.', ' '], other: { decimal: '.', grouping: [','] } },
  dates: {
    months: [
      ['janeiro', 'jan', 'jan.'], ['fevereiro', 'fev', 'fev.'], ['março', 'mar', 'mar.'], ['abril', 'abr', 'abr.'], ['maio', 'mai', 'mai.'],
      ['junho', 'jun', 'jun.'],
      ['julho', 'jul', 'jul.'], ['agosto', 'ago', 'ago.'], ['setembro', 'set', 'set.'], ['outubro', 'out', 'out.'],
      ['novembro', 'nov', 'nov.'], ['dezembro', 'dez.'],
    ],
    weekdays: [
      ['segunda', 'seg.', 'Seg', 'Seg.'], ['terça', 'ter.', 'Ter', 'Ter.'], ['quarta', 'qua.', 'Qua', 'Qua.'],
      ['quinta', 'qui.', 'Qui', 'Qui.'], ['sexta', 'sex.', 'Sex', 'Sex.'], ['sábado', 'sáb.', 'Sáb', 'Sáb.'],
      ['domingo', 'dom.', 'Dom', 'Dom.'],
    ],
    orders: { '/': 'dmy', '-': 'dmy', '.': 'dmy' },
    named: ['day-month', 'month-day'],
    dayMark: '[.]?[ºª°]|er',
    between: '(?:,? de (?:ano )?|[ /-])',
  },
  times: {
    marks: [':', 'h'],
    halves: { 'a.m.': 'am', 'p.m.': 'pm', am: 'am', pm: 'pm', 'a. m.': 'am', 'p. m.': 'pm' },
    words: { h: 'horas', hs: 'horas', hrs: 'horas', horas: 'horas' },
    zones: { GMT: 'G M T', UTC: 'U T C', BRT: 'horário de Brasília', CET: 'horário da Europa Central', EST: 'horário do leste',
    PST: 'horário do Pacífico', ET: 'horário do leste', WET: 'horário da Europa Ocidental' },
  },
  telephone: {
    patterns: [
      /\(0?\d{2}\) ?(?:9 ?)?\d{4}[- ]?\d{4}(?!\d)/y,
      /\d{2} 9 ?\d{4}-\d{4}(?!\d)/y,
      /9?[2-9]\d{3}-\d{4}(?<!20\d\d-20\d\d)(?!\d|[-.]\d)/y,
      /0[3589]00[ -]\d{3}[ -]?\d{4}(?!\d)/y,
      /4[0-9]{3}[ -]\d{4}(?!\d|[-. ]\d)/y,
      /0[3589]00-\d{3}-\d{4}(?!\d)/y,
      /(?:\(00\d{1,3}\)|00 ?\d{2,3}) ?\d{1,4}(?:[ -]\d{2,5}){1,4}(?!\d|[-.]\d)/y,
      /55 \d{2} 9?\d{4}[- ]\d{4}(?!\d)/y,
      /[29]\d{2} \d{3} \d{3}(?<!000 000)(?!\d|[ .]\d)/y,
      /[29]\d \d{3} \d{2} \d{2}(?!\d|[.]\d)/y,
    ],
    keywords: words('telefone telefones tel fone celular cel telemóvel fax whatsapp zap ligue liga ligar ligando disque discar discando contato contacto emergência'),
  },
  currencies: CURRENCIES,
  currencySigns: {
    R$: 'BRL', reais: 'BRL', $: 'USD', US$: 'USD', U$: 'USD', dólares: 'USD', dólar: 'USD', '€': 'EUR', euros: 'EUR', euro: 'EUR',
    '£': 'GBP', libras: 'GBP', '¥': 'JPY', ienes: 'JPY', '₹': 'INR', '₩': 'KRW', '₽': 'RUB', rublos: 'RUB', C$: 'CAD', A$: 'AUD', MX$: 'MXN',
    AR$: 'ARS',
    Kz: 'AOA', kwanzas: 'AOA', '₿': 'BTC', bitcoins: 'BTC', centavos: 'CENT', cêntimos: 'CENTIMO', '¢': 'CENT', pesos: 'PESO',
  },
  units: {
    ...units({
      'km Km kms': 'quilômetro', 'm mts': 'metro', cm: 'centímetro', mm: 'milímetro', 'µm μm': 'micrômetro', nm: 'nanômetro',
      dm: 'decímetro', yd: 'jarda f', ft: 'pé', 'in.': 'polegada f', '″': 'polegada f',
      'km² km2': 'quilômetro quadrado', 'm² m2': 'metro quadrado', 'cm² cm2': 'centímetro quadrado', 'm³ m3': 'metro cúbico',
      'cm³ cm3 cc': 'centímetro cúbico', ha: 'hectare', 'km/h Km/h': 'quilômetro por hora', 'm/s': 'metro por segundo',
      'm/s²': 'metro por segundo ao quadrado|metros por segundo ao quadrado', mph: 'milha por hora f', 'kg Kg kgs': 'quilograma',
      'g gr': 'grama', mg: 'miligrama',
      'µg μg mcg': 'micrograma', 't ton': 'tonelada f', 'lb lbs': 'libra f', oz: 'onça f',
      'l L lt': 'litro', 'ml mL': 'mililitro', 'cl cL': 'centilitro', 'dl dL': 'decilitro', hl: 'hectolitro', gal: 'galão|galões',
      '°C ºC ℃': 'grau Celsius', '°F ºF ℉': 'grau Fahrenheit', '° º': 'grau', K: 'kelvin', 'h hr hrs': 'hora f', 'min min.': 'minuto',
      's seg seg.': 'segundo', ms: 'milissegundo', 'µs μs': 'microssegundo', ns: 'nanossegundo', Hz: 'hertz|hertz',
      Mb: 'megabit', Gb: 'gigabit', kHz: 'quilohertz|quilohertz', MHz: 'mega-hertz|mega-hertz', GHz: 'giga-hertz|giga-hertz', bytes: 'byte',
      'KB kB': 'quilobyte',
      MB: 'megabyte',
      GB: 'gigabyte', TB: 'terabyte', PB: 'petabyte', 'kbps kbit/s': 'quilobit por segundo', 'Mbps Mbit/s Mb/s': 'megabit por segundo',
      'Gbps Gbit/s': 'gigabit por segundo', 'MB/s': 'megabyte por segundo', 'GB/s': 'gigabyte por segundo', W: 'watt', kW: 'quilowatt',
      MW: 'megawatt', GW: 'gigawatt',
      Wh: 'watt-hora|watts-hora', 'kWh KWh': 'quilowatt-hora|quilowatts-hora', MWh: 'megawatt-hora|megawatts-hora',
      GWh: 'gigawatt-hora|gigawatts-hora', V: 'volt', kV: 'quilovolt', mV: 'milivolt', A: 'ampere', mA: 'miliampere',
      mAh: 'miliampere-hora|miliamperes-hora', Ω: 'ohm', kΩ: 'quilo-ohm',
      N: 'newton', J: 'joule', kJ: 'quilojoule', kcal: 'quilocaloria f', cal: 'caloria f', Pa: 'pascal|pascals',
      kPa: 'quilopascal|quilopascals', hPa: 'hectopascal|hectopascals', psi: 'libra por polegada quadrada f', 'dB dBA': 'decibel|decibéis',
      rpm: 'rotação por minuto|rotações por minuto f', fps: 'quadro por segundo',
      dpi: 'ponto por polegada', px: 'pixel|pixels', MP: 'megapixel|megapixels', 'cv CV': 'cavalo', bpm: 'batimento por minuto',
      mmHg: 'milímetro de mercúrio|milímetros de mercúrio', 'mg/dL mg/dl': 'miligrama por decilitro', 'g/l g/L': 'grama por litro', 'pts pts.': 'ponto', 'sem.': 'semana f', 'pess.': 'pessoa f', 'g/dL g/dl': 'grama por decilitro', 'mmol/L mmol/l': 'milimol por litro', 'UI': 'unidade internacional|unidades internacionais f', 'U/L U/l': 'unidade por litro|unidades por litro f', 'ng/ml ng/mL': 'nanograma por mililitro', 'comp. cp. cps.': 'comprimido', 'cáps. cáps': 'cápsula f', 'amp.': 'ampola f', 'gts.': 'gota f', 'qtos. qto.': 'quarto', nits: 'nit',
      'un. un unid. unids.': 'unidade f', 'dz dz.': 'dúzia f', 'p.p.': 'ponto percentual|pontos percentuais', 'km/l': 'quilômetro por litro',
    }),
    ...units({ 'hab hab.': 'habitante', 'hab/km² hab./km² hab/km2': 'habitante por quilômetro quadrado|habitantes por quilômetro quadrado' }),
    'l/100 km': noun('litro a cada cem quilômetros'),
    'col. (sopa)': noun('colher de sopa|colheres de sopa f'),
    'col. (chá)': noun('colher de chá|colheres de chá f'),
    'col. (sobremesa)': noun('colher de sobremesa|colheres de sobremesa f'),
    'col. sopa': noun('colher de sopa|colheres de sopa f'),
    'col. chá': noun('colher de chá|colheres de chá f'),
    'p. p.': noun('ponto percentual|pontos percentuais'),
    '° C': noun('grau Celsius'),
    'º C': noun('grau Celsius'),
    '%': { forms: ['por cento', 'por cento'] },
    '‰': { forms: ['por mil', 'por mil'] },
  },
  per: {
    s: 'por segundo', seg: 'por segundo', min: 'por minuto', h: 'por hora', hora: 'por hora', dia: 'por dia', d: 'por dia',
    semana: 'por semana', mês: 'por mês', mes: 'por mês', ano: 'por ano', noite: 'por noite', kg: 'por quilo', l: 'por litro',
    L: 'por litro', litro: 'por litro', 'm²': 'por metro quadrado',
    m2: 'por metro quadrado', m: 'por metro', km: 'por quilômetro', 'km²': 'por quilômetro quadrado', km2: 'por quilômetro quadrado',
    pessoa: 'por pessoa', kWh: 'por quilowatt-hora', MWh: 'por megawatt-hora', t: 'por tonelada', un: 'por unidade', unidade: 'por unidade',
    usuário: 'por usuário', barril: 'por barril', GB: 'por gigabyte', 'm³': 'por metro cúbico', m3: 'por metro cúbico', saca: 'por saca', 'mm³': 'por milímetro cúbico', mm3: 'por milímetro cúbico', dose: 'por dose', sessão: 'por sessão',
  },
  magnitudes: MAGNITUDES,
  ordinalMark: '[.]?(?:[ºª°]s?|[oa]s?(?=[.]?(?:[\\s,;:)]|$)))(?:[.](?= \\p{Ll}))?',
  abbreviations: ABBREVIATIONS,
  beforeNumber: {
    'n.º': 'número', 'N.º': 'número', nº: 'número', Nº: 'número', 'n.': 'número', 'n.os': 'números', 'n°': 'número', 'N°': 'número', 'no.': 'número', 'No.': 'número',
    '#': 'número', '№': 'número', 'p.': 'página', 'pp.': 'páginas', 'pág.': 'página', 'págs.': 'páginas', 'cap.': 'capítulo',
    'Cap.': 'capítulo', 'caps.': 'capítulos', 'art.': 'artigo', 'Art.': 'artigo', 'arts.': 'artigos', 'vol.': 'volume', 'Vol.': 'volume',
    't.': 'tomo', 'fig.': 'figura', 'Fig.': 'figura', 'inc.': 'inciso', '§': 'parágrafo', '§§': 'parágrafos', 'ed.': 'edição', km: 'quilômetro',
    Km: 'quilômetro', 'c.': 'cerca de', 'ext.': 'extensão', 'v.': 'versão', 'al.': 'alínea', 'Res.': 'resolução', 'Proc.': 'processo', 'proc.': 'processo', 'Dec.': 'decreto',
    'Qd.': 'quadra', 'sl.': 'sala', 'Sl.': 'sala',
  },
  spelled: words(`
    UE IPCA IOF EAD TSE TRE CPI IPO AGU UFMG CPF RG INSS ONGS FMI BCE OMS OEA DNA RNA HIV IA TV PC USB GPS URL SMS PDF CFO CTO FBI IBM IBGE UFRJ IP ID LCD UTI AM FM DVD CD
    HTML CSS HTTP HTTPS XML SQL OAB IPTU IPVA ISS STF CPMF INPC ICMS IPI IR FGTS UFC NBA NFL BNDES CBF CPU GPU QR OTP AVC IRS IRC NIB EDP
    CGD PSD PSP GNR CP
  `),
  read: words('ONU OTAN NATO PIN SIM RAM ROM IVA SUS USP PIX ONG PIB CEP CIA CEO LED VIP API TAP SIDA AIDS COVID'),
  romanAfter: Object.fromEntries([
    ...after('capítulo tomo volume parte livro ato cena título seção secção anexo apêndice fase tipo nível artigo classe grupo episódio apolo unidade módulo inciso bowl fantasy rocky lei alínea', 'cardinal'),
    ...after(
      `século séculos vaticano pedro joão paulo isabel elizabeth henrique luís luiz pio bento francisco leão gregório manuel afonso sancho dinis
      fernando duarte sebastião filipe josé maria miguel carlos
       napoleão guilherme jorge eduardo ricardo catarina margarida cristina leopoldo nicolau alexandre ivan frederico vítor humberto urbano
       inocêncio júlio adriano ramsés dario gustavo clemente`,
      'ordinal',
    ),
  ]),
  romanBefore: words('olimpíada olimpíadas internacional bimestre trimestre milênio distrito região guerra congresso edição aniversário centenário jornadas jornada jogos cúpula república festival concurso feira conferência encontro simpósio fórum maratona bienal prêmio semana seminário campeonato torneio copa assembleia dinastia cruzada concílio plano império reich curso mostra salão'),
  digitsAfter: words('código pin senha voo ramal extensão cep conta agência ag referência protocolo pedido rastreio rastreamento confirmação verificação segurança acesso ativação otp cvv isbn imei cpf rg cnpj matrícula final token nif'),
  linking: words('é de do da número nº no na o a seu sua são será n ref em'),
  decadeMark: "['’]?s",
  yearAfter: words('em ano anos desde até de do antes depois verão outono inverno primavera durante entre janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'),
  scoreWords: words('venceu venceram ganhou ganharam perdeu perderam empatou empataram empate placar resultado derrotou goleou vitória derrota bateu jogo final terminou acabou ficou set vence'),
};
