// Portuguese short forms that are said in full. A form in small letters is also found with a capital.
import { greekLetters } from '../greek.js';
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
import type { Saying } from '../language.js';
import { genderOf } from './grammar.js';

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
}; // prettier-ignore

const PLACES: Readonly<Record<string, Saying>> = {
  'R.': beforeName('rua'), 'Av.': 'avenida', 'av.': 'avenida', Av: beforeName('avenida'), 'Al.': beforeName('alameda'), 'Pça.': 'praça',
  'Pç.': 'praça', 'Trav.': 'travessa', 'Tv.': beforeName('travessa'), 'Rod.': 'rodovia', 'Estr.': 'estrada', 'Lgo.': 'largo',
  'Jd.': 'jardim', 'Vl.': beforeName('vila'), 'Cj.': 'conjunto', 'Conj.': 'conjunto', 'Ed.': beforeName('edifício'), 'bl.': 'bloco',
  'Qd.': 'quadra', 'Lt.': 'lote', 'apto.': 'apartamento', apto: beforeDigit('apartamento'), Apto: beforeDigit('apartamento'),
  'ap.': 'apartamento', 'apt.': 'apartamento', 's/n': 'sem número',
  's/nº': 'sem número', 'S/N': 'sem número', 'esq.': 'esquerdo', 'dto.': 'direito',
}; // prettier-ignore

const OFFICE: Readonly<Record<string, Saying>> = {
  'depto.': 'departamento', 'Dept.': 'departamento', 'Cia.': 'companhia', Cia: 'companhia', 'Ltda.': 'limitada', 'Lda.': 'limitada',
  'S. A.': 'S A', 'S/A': 'S A', 'Univ.': 'universidade', 'Inst.': 'instituto', 'Assoc.': 'associação', 'obs.': 'observação',
  'ref.': 'referência', 'tel.': 'telefone', tel: beforeNumberOf('telefone'), Tel: beforeNumberOf('Telefone'), 'cel.': 'celular',
  'qtd.': 'quantidade', 'qtde.': 'quantidade', 'c/c': 'conta-corrente',
  'c/': unlessDigit('com', 'a cada'), 'p/': 'para', 's/': 'sem', 'AT&T': 'A T e T', 'P&D': 'P e D', 'n/a': 'não se aplica', 'N/A': 'não se aplica',
}; // prettier-ignore

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
}; // prettier-ignore

const GREEK = greekLetters(
  'alfa beta gama delta épsilon zeta eta teta iota capa lambda mi ni csi ômicron pi rô sigma tau úpsilon fi qui psi ômega',
);

export const ABBREVIATIONS = { ...TITLES, ...PLACES, ...GREEK, ...OFFICE, ...RUNNING_TEXT };

export const BEFORE_NUMBER: Readonly<Record<string, string>> = {
  'n.º': 'número', 'N.º': 'número', nº: 'número', Nº: 'número', 'n.': 'número', 'n.os': 'números', 'n°': 'número', 'N°': 'número', 'no.': 'número', 'No.': 'número',
  '#': 'número', '№': 'número', 'p.': 'página', 'pp.': 'páginas', 'pág.': 'página', 'págs.': 'páginas', 'cap.': 'capítulo',
  'Cap.': 'capítulo', 'caps.': 'capítulos', 'art.': 'artigo', 'Art.': 'artigo', 'arts.': 'artigos', 'vol.': 'volume', 'Vol.': 'volume',
  't.': 'tomo', 'fig.': 'figura', 'Fig.': 'figura', 'inc.': 'inciso', '§': 'parágrafo', '§§': 'parágrafos', 'ed.': 'edição', km: 'quilômetro',
  Km: 'quilômetro', 'c.': 'cerca de', 'ext.': 'extensão', 'v.': 'versão', 'al.': 'alínea', 'Res.': 'resolução', 'Proc.': 'processo', 'proc.': 'processo', 'Dec.': 'decreto',
  'Qd.': 'quadra', 'sl.': 'sala', 'Sl.': 'sala',
}; // prettier-ignore
