// Italian short forms and the words that are said for them.
import type { Saying } from '../language.js';
import type { Around } from '../reading.js';

function likeWritten(said: string, { text, start }: Around): string {
  return /\p{Lu}/u.test(text[start] ?? '') ? said.slice(0, 1).toUpperCase() + said.slice(1) : said;
}

/** Dottor Rossi, but "il dottore". */
function title(beforeName: string, alone = beforeName): Saying {
  return (around) => likeWritten(/^\p{Lu}/u.test(around.nextWord) ? beforeName : alone, around);
}

/** Only before a name. */
function onlyBeforeName(said: string): Saying {
  return (around) => (/^\p{Lu}/u.test(around.nextWord) ? likeWritten(said, around) : undefined);
}

/** Before a colon, or behind a bracket or comma; not the end of a sentence. */
function example(said: string): Saying {
  return ({ text, start, end }) =>
    /^ ?:/.test(text.slice(end, end + 2)) || /[(,] ?$/.test(text.slice(Math.max(0, start - 2), start))
      ? said
      : undefined;
}

/** Behind a number or before one: min. 5, 10 max. */
function byNumber(said: string): Saying {
  return ({ text, start, end }: Around) =>
    /^ ?\d/.test(text.slice(end, end + 2)) ||
    /\d\p{L}{0,12} ?$/u.test(text.slice(Math.max(0, start - 14), start))
      ? said
      : undefined;
}

/** SS. Annunziata, SS. Sacramento, SS. Pietro e Paolo */
const holy: Saying = ({ text, end, nextWord }) => {
  if (/^(?:Sacramento|Crocifisso|Salvatore|Redentore|Nome)$/.test(nextWord)) return 'Santissimo';
  if (/^(?:Annunziata|Trinità|Vergine|Madre)$/.test(nextWord)) return 'Santissima';
  return /^ \p{Lu}\p{Ll}+ e(?:d)? \p{Lu}/u.test(text.slice(end, end + 24)) ? 'Santi' : undefined;
};

/** Cap. III: before a Roman numeral. */
function beforeRoman(said: string): Saying {
  return (around) => (/^[IVXLC]+$/.test(around.nextWord) ? likeWritten(said, around) : undefined);
}

/** Inter vs. Milan, but "il vs. ordine". */
const yours: Saying = (around) => (/^\p{Ll}/u.test(around.nextWord) ? 'vostro' : 'contro');

/** A.s. 2023/24 */
function beforeYear(said: string): Saying {
  return ({ text, end }) => (/^ ?(?:19|20)\d\d/.test(text.slice(end, end + 5)) ? said : undefined);
}

/** Lotto n. A12 */
const beforeCode: Saying = ({ text, end }) =>
  /^ ?[A-Z]{1,3}-?\d/.test(text.slice(end, end + 6)) ? 'numero' : undefined;

/** Scala B */
const before = (what: RegExp, said: string): Saying => ({ text, end }) => (what.test(text.slice(end, end + 6)) ? said : undefined); // prettier-ignore
const behindNumber = (said: string): Saying => ({ text, start }) => (/\d[\d.,]* ?$/.test(text.slice(Math.max(0, start - 8), start)) ? said : undefined); // prettier-ignore
const behindOrdinal = (said: string): Saying => ({ text, start }) => (/\d[°º] $/.test(text.slice(Math.max(0, start - 3), start)) ? said : undefined); // prettier-ignore
const staircase: Saying = (around) => (/^\p{Lu}$/u.test(around.nextWord) ? 'scala' : undefined);

/** Sec. XX, XX sec. */
const century: Saying = (around) =>
  /^[IVXLC]+$/.test(around.nextWord) || /^[ivxlc]+$/.test(around.previousWord) ? 'secolo' : undefined;

/** S.E. il Prefetto, S.E. Mons. Rossi */
function onlyBeforeHonour(said: string): Saying {
  return (around) => (/^(?:il$|la$|l['’]|mons|\p{Lu})/iu.test(around.nextWord) ? said : undefined);
}

/** C.a. Ing. Neri, but "del 3 maggio c.a." */
const attention: Saying = (around) =>
  /^(?:\p{Lu}|dott|ing|sig|avv|arch|geom|rag|prof)/u.test(around.nextWord)
    ? 'cortese attenzione'
    : 'corrente anno';

/** Al 3° p. */
const floor: Saying = ({ text, start }) =>
  /\d[°º] $/.test(text.slice(Math.max(0, start - 3), start)) ? 'piano' : undefined;

/** Reg. UE 2016/679 */
const regulation: Saying = (around) =>
  /^ (?:UE|CE|CEE|\(UE\)|\d)/.test(around.text.slice(around.end, around.end + 6))
    ? likeWritten('regolamento', around)
    : undefined;

const TITLES: Readonly<Record<string, Saying>> = {
  'sig.': title('signor', 'signore'), 'sig.ra': 'signora', 'sig.na': 'signorina', 'sigg.': 'signori', 'sig.re': 'signore', 'sig.ri': 'signori', 'sig.re/sig.ra': 'signore o signora', 'Sig./Sig.ra': 'Signore o Signora', 'Sig.ra/Sig.': 'Signora o Signore',
  'dott.': title('dottor', 'dottore'), 'dott.ssa': 'dottoressa', 'dott.sse': 'dottoresse', 'dott.ri': 'dottori', 'dr.': title('dottor', 'dottore'), Dr: onlyBeforeName('Dottor'), 'dr.ssa': 'dottoressa', 'Dr.ssa': 'Dottoressa',
  'prof.': title('professor', 'professore'), 'prof.ssa': 'professoressa', 'proff.': 'professori', 'prof.sse': 'professoresse', 'avv.': 'avvocato', 'avv.ti': 'avvocati', 'ing.': title('ingegner', 'ingegnere'),
  'arch.': 'architetto', 'geom.': 'geometra', 'rag.': title('ragionier', 'ragioniere'), 'on.': onlyBeforeName('onorevole'), 'On.': onlyBeforeName('Onorevole'), 'on.le': 'onorevole', 'sen.': onlyBeforeName('senatore'), 'gen.': onlyBeforeName('generale'), 'col.': onlyBeforeName('colonnello'),
  'ten.': onlyBeforeName('tenente'), 'magg.': onlyBeforeName('maggiore'), 'mar.llo': 'maresciallo', 'cav.': onlyBeforeName('cavalier'), 'comm.': onlyBeforeName('commendator'), 'mons.': title('monsignor', 'monsignore'), 'card.': onlyBeforeName('cardinal'), 'rev.': 'reverendo', 'Mr.': 'Mister', 'Mrs.': 'Missis',
  'egr.': 'egregio', 'gent.mo': 'gentilissimo', 'gent.ma': 'gentilissima', 'gent.mi': 'gentilissimi', 'gent.le': 'gentile', 'gent.': 'gentile', 'spett.le': 'spettabile', 'spett.': 'spettabile', 'ill.mo': 'illustrissimo', 'ill.ma': 'illustrissima', 'chiar.mo': 'chiarissimo', 'preg.mo': 'pregiatissimo', 'f.lli': 'fratelli', 'fam.': onlyBeforeName('famiglia'),
}; // prettier-ignore

const PLACES: Readonly<Record<string, Saying>> = {
  'p.zza': 'piazza', 'p.za': 'piazza', 'pza': 'piazza', 'p.zzale': 'piazzale', 'p.le': 'piazzale', 'p.tta': 'piazzetta', 'v.le': 'viale', 'c.so': 'corso', 'l.go': 'largo', 'vic.': onlyBeforeName('vicolo'), 'c.da': 'contrada', 'loc.': onlyBeforeName('località'), 'fraz.': onlyBeforeName('frazione'), 'prov.': 'provincia', 'SS.': holy, 'S.S.': holy, 'Ss.': onlyBeforeName('santi'),
  'tel.': 'telefono', 'cell.': 'cellulare', 'c/o': 'presso', 's.n.c.': 'senza numero civico', 'l.mare': 'lungomare', 's.l.m.': 'sul livello del mare', 'P.T.': 'piano terra', 'p.t.': 'piano terra',
}; // prettier-ignore

export const ABBREVIATIONS: Readonly<Record<string, Saying>> = {
  ...TITLES,
  ...PLACES,
  'ecc.': 'eccetera', ecc: 'eccetera', 'etc.': 'eccetera', etc: 'eccetera', 'ad es.': 'ad esempio', 'p. es.': 'per esempio', 'p.es.': 'per esempio', 'per es.': 'per esempio', 'es.': example('esempio'), 'Es.': 'Esempio', 'cfr.': 'confronta', 'cf.': 'confronta', 'v.': byNumber('vedi'),
  'i.e.': 'cioè', 'e.g.': 'per esempio', 'c.d.': 'cosiddetto', 'cd.': 'cosiddetto', 'cit.': 'citato', 'ca.': 'circa', 'approx.': 'circa', 'max.': 'massimo', 'max': 'massimo', 'min.': byNumber('minimo'), 'rif.': 'riferimento', 'C.d.A.': 'C D A', CdA: 'C D A', 'c.v.d.': 'come volevasi dimostrare', 'H/24': 'H ventiquattro', 'h/24': 'H ventiquattro', 's.r.l.': 'S R L', srl: 'S R L', 's.p.a.': 'S P A', 'op. cit.': 'opera citata', 'ibid.': 'ibidem', 'et al.': 'e altri', 'n.b.': 'nota bene', 'p.s.': 'post scriptum', 'a.s.': beforeYear('anno scolastico'), 'a.a.': beforeYear('anno accademico'), 'A.S.': beforeYear('anno scolastico'), 'A.A.': beforeYear('anno accademico'),
  'pres.': onlyBeforeName('presidente'), 'univ.': 'università', 'dip.': 'dipartimento', 'ist.': 'istituto', 'Rep.': onlyBeforeName('Repubblica'), 'uff.': 'ufficio', 'Min.': onlyBeforeName('Ministero'), 'ns.': 'nostro', 'vs.': yours, vs: 'contro', 'u.s.': 'ultimo scorso', 'p.v.': 'prossimo venturo', 'c.m.': 'corrente mese',
  'c.a.': attention, 'C.A.': 'alla cortese attenzione', 'a. C.': 'avanti Cristo', 'd. C.': 'dopo Cristo', 'S.r.l.': 'S R L', 'S.r.l': 'S R L', 'S.E.': onlyBeforeHonour('Sua Eccellenza'), 'S.E.R.': 'Sua Eccellenza Reverendissima', 'S.p.A.': 'S P A', 'S.p.A': 'S P A', 'S.p.a.': 'S P A', 'S.n.c.': 'S N C', 'S.a.s.': 'S A S', 'Srl': 'S R L', SpA: 'S P A', 'N.B.': 'nota bene', NB: 'nota bene', 'P.S.': 'post scriptum', 'q.b.': 'quanto basta',
  'P.IVA': 'partita IVA', 'P. IVA': 'partita IVA', 'p.iva': 'partita IVA', 'P.Iva': 'partita IVA', 'p. iva': 'partita IVA', 'C.F.': 'codice fiscale', 'c.f.': 'codice fiscale', 'n.d.': 'non disponibile', 'n/d': 'non disponibile', 'N/D': 'non disponibile', 's.v.p.': 'per favore', 'scad.': 'scadenza',
  'gg.': 'giorni', 'ult.': 'ultimo', 'pag.ti': 'pagamenti', 'incl.': 'incluso', 'escl.': 'escluso', 'tot.': 'totale', 'cad.': 'cadauno', 'succ.': 'successivi', 'ss.gg.': 'successivi', 'lett.': 'lettera', 'n.': beforeCode, 'D.Lgs.': 'decreto legislativo', 'd.lgs.': 'decreto legislativo', 'D.L.': 'decreto legge', 'd.l.': 'decreto legge', 'sec.': century, 'cap.': beforeRoman('capitolo'), 'art.': beforeRoman('articolo'), 'sez.': beforeRoman('sezione'), 'par.': beforeRoman('paragrafo'), 'lib.': beforeRoman('libro'), 'fasc.': beforeRoman('fascicolo'), 'A/R': 'andata e ritorno', 'a/r': 'andata e ritorno', 'n/a': 'non applicabile', 'N/A': 'non applicabile', 'ecc...': 'eccetera', 'ecc…': 'eccetera', 'etc...': 'eccetera', 'etc…': 'eccetera',
  'p.': floor, 'L.': (around) => (/^ n[.°]/.test(around.text.slice(around.end, around.end + 3)) ? 'legge' : undefined), 'Trib.': onlyBeforeName('Tribunale'), 'sent.': before(/^ (?:n|\d)/, 'sentenza'), 'op.': before(/^ \d/, 'opera'), 'T.': beforeRoman('Tomo'), 'Ø': before(/^ ?\d/, 'diametro'), Snc: 'S N C', Sas: 'S A S', 'S.ta': 'Santa', 'S.to': 'Santo', 'trim.': behindOrdinal('trimestre'), 'sem.': behindOrdinal('semestre'), 'ss.': behindNumber('e seguenti'), 'e ss.': behindNumber('e seguenti'), 'Cass. civ.': 'Cassazione civile', 'Cass. pen.': 'Cassazione penale', 'Cass.': 'Cassazione', 'reg.': regulation, 'secc.': 'secoli', 'cl. en.': 'classe energetica', 'cl. energ.': 'classe energetica', 'trad.': 'traduzione', 'ed.': onlyBeforeName('edizioni'), 'vol.': 'volume', 'voll.': 'volumi', 'pagg.': 'pagine', 'sott.': 'sottotitolo',
  'e/o': 'e o', '24/7': 'ventiquattro ore su ventiquattro, sette giorni su sette', '7/7': 'sette giorni su sette', '24h/24': 'ventiquattro ore su ventiquattro', '24/24': 'ventiquattro ore su ventiquattro', 'h24': 'H ventiquattro', '°C': 'gradi Celsius', 'm²': 'metri quadrati', mq: 'metri quadrati', 'm³': 'metri cubi', mc: behindNumber('metri cubi'), 'km²': 'chilometri quadrati', 'cm²': 'centimetri quadrati', 'km/h': 'chilometri orari', kWh: 'chilowattora', '=>': ',', '->': ',', 'PM2.5': 'P M due virgola cinque', 'PM2,5': 'P M due virgola cinque', 'cod.': 'codice', 'fisc.': 'fiscale', 'Fisc.': 'Fiscale', 'sc.': staircase,
  '16:9': 'sedici noni', '16/9': 'sedici noni', '21:9': 'ventuno noni', cmq: 'comunque', nn: 'non', xké: 'perché', xchè: 'perché', tvb: 'ti voglio bene', grz: 'grazie',
}; // prettier-ignore

export const BEFORE_NUMBER: Readonly<Record<string, string>> = {
  'bin.': 'binario', 'rit.': 'ritardo', 'n.': 'numero', 'N.': 'numero', 'n°': 'numero', 'N°': 'numero', nº: 'numero', Nº: 'numero', 'nr.': 'numero', 'Nr.': 'numero', nr: 'numero', 'num.': 'numero', '№': 'numero', '#': 'numero', 'nn.': 'numeri',
  'p.': 'pagina', 'pag.': 'pagina', 'Pag.': 'Pagina', 'pp.': 'pagine', 'pagg.': 'pagine', 'vol.': 'volume', 'Vol.': 'Volume', 'cap.': 'capitolo', 'Cap.': 'Capitolo', 'capp.': 'capitoli', 'fig.': 'figura', 'Fig.': 'Figura', 'figg.': 'figure', 'tab.': 'tabella', 'Tab.': 'Tabella', 'tav.': 'tavola',
  'art.': 'articolo', 'Art.': 'Articolo', 'artt.': 'articoli', 'Artt.': 'Articoli', 'co.': 'comma', 'c.': 'comma', 'par.': 'paragrafo', 'sez.': 'sezione', 'all.': 'allegato', 'All.': 'Allegato', 'int.': 'interno', 'prot.': 'protocollo', 'rif.': 'riferimento', 'ver.': 'versione', 'ep.': 'episodio', 'es.': 'esercizio', 'scad.': 'scadenza',
  '§': 'paragrafo', '§§': 'paragrafi', 'v.': 'verso', 'ca.': 'circa', '~': 'circa', 'h.': 'ore', 'H.': 'ore', 'h': 'ore', H: 'ore', 'max.': 'massimo', 'min.': 'minimo', min: 'minimo', 'tel.': 'telefono', 'Tel.': 'Telefono', 'L.': 'legge', 'l.': 'legge', 'D.L.': 'decreto legge', 'D.Lgs.': 'decreto legislativo', 'd.lgs.': 'decreto legislativo', 'd.l.': 'decreto legge', 'D.P.R.': 'D P R',
  'S.S.': 'strada statale', SS: 'strada statale', 'S.P.': 'strada provinciale', SP: 'strada provinciale', 'sc.': 'scala', 'pos.': 'posizione', 'lotto n.': 'lotto numero', PA: 'P A', 'km.': 'chilometro', km: 'chilometro', Km: 'chilometro', 'gr.': 'gruppo',
}; // prettier-ignore
