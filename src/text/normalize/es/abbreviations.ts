// Spanish short forms that are said in full. A form in small letters is also found with a capital.
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

const ofWoman = titleBehind(new Set(['la', 'una', 'señora', 'doña']));
const inGender = adjectiveBehind(new Set(['la', 'una']), genderOf);
const factors = timesSign('por', 'por');

/** Behind a year or a century; Washington D. C. keeps its letters. */
function afterYear(words: string): Saying {
  return (around) => (/[\dIVX] ?$/.test(textBefore(around, 2)) ? words : undefined);
}

/** Dom. 3 de marzo; de lun. a vie. */
function weekday(name: string): Saying {
  return (around) => (/^(?:a|al|y|el|los)$/.test(around.previousWord) ? name : beforeDigit(name)(around));
}

/** Col. is a district of a Mexican town behind a comma or before a postcode, else a colonel. */
const colony: Saying = (around) =>
  /,\s*$/.test(textBefore(around, 3)) ||
  /^ [\p{L} ]{3,30},? (?:C\.? ?P\.?|\d{5}(?!\d))/u.test(textBehind(around, 44))
    ? 'colonia'
    : 'coronel';

/** Largo x ancho, and between numbers. */
const times: Saying = (around) =>
  /^(?:ancho|alto|largo|fondo)$/.test(around.previousWord) ? 'por' : factors(around);

/** Piso 3, dto. B, but 10 % dto. */
const flat: Saying = (around) =>
  /^ \p{Lu}(?!\p{L})/u.test(textBehind(around, 3)) ? 'departamento' : 'descuento';

/** Esc. B, pta. 3. */
function labelled(word: string): Saying {
  return (around) => (/^ (?:\d|\p{Lu}(?!\p{L}))/u.test(textBehind(around, 3)) ? word : undefined);
}

const TITLES: Readonly<Record<string, Saying>> = {
  'Sr.': 'señor', 'Sra.': 'señora', 'Sres.': 'señores', 'Sras.': 'señoras', 'Srta.': 'señorita', 'Srtas.': 'señoritas',
  'sr.': 'señor', Mª: 'María', 'Ma.': beforeName('María'), 'Fco.': 'Francisco', 'Fdez.': 'Fernández', 'Glez.': 'González',
  'Rdguez.': 'Rodríguez', 'Hdez.': 'Hernández', 'Mtnez.': 'Martínez', 'M.ª': 'María', 'Mª.': 'María', 'sra.': 'señora',
  Sr: beforeName('señor'), Sra: beforeName('señora'), 'D.': beforeName('don'),
  'D.ª': 'doña', Dª: 'doña', 'D.a': 'doña', 'Dña.': 'doña', 'Da.': beforeName('doña'), 'Dr.': 'doctor', 'Dra.': 'doctora', 'Dres.': 'doctores',
  'Dras.': 'doctoras', Dr: beforeName('doctor'), Dra: beforeName('doctora'), 'Prof.': ofWoman('profesor'), 'Profa.': 'profesora',
  'Prof.ª': 'profesora',
  'Ing.': ofWoman('ingeniero'), 'Lic.': ofWoman('licenciado'), 'Lcdo.': 'licenciado', 'Lcda.': 'licenciada', 'Licda.': 'licenciada',
  'Arq.': ofWoman('arquitecto'),
  'Abg.': ofWoman('abogado'), 'Mtro.': 'maestro', 'Mtra.': 'maestra', 'Gral.': 'general', 'Cnel.': 'coronel', 'Col.': colony,
  'Cap.': beforeName('capitán'), 'Cmte.': 'comandante', 'Tte.': 'teniente', 'Sgto.': 'sargento', 'Alm.': 'almirante',
  'Gob.': ofWoman('gobernador'), 'Gte.': 'gerente', 'gte.': 'gerente', 'gral.': 'general', 'Magdo.': 'magistrado',
  'Dip.': ofWoman('diputado'), 'Sen.': ofWoman('senador'), 'Psic.': ofWoman('psicólogo'), 'C.P.A.': 'contador público',
  'Pdte.': 'presidente', 'Pdta.': 'presidenta', 'Pte.': 'presidente', 'Mons.': 'monseñor', 'Excmo.': 'excelentísimo',
  'Excma.': 'excelentísima', 'Ilmo.': 'ilustrísimo', 'Ilma.': 'ilustrísima', 'Rvdo.': 'reverendo', 'Fr.': beforeName('fray'),
  'Hno.': 'hermano', 'Hna.': 'hermana', 'Hnos.': 'hermanos', 'Vda.': 'viuda', 'Sto.': 'Santo', 'Sta.': 'Santa',
  Sto: beforeName('Santo'), Sta: beforeName('Santa'), 'S.': beforeName('San'), 'ud.': 'usted', 'uds.': 'ustedes', 'Ud.': 'usted',
  'Uds.': 'ustedes', 'Vd.': 'usted', 'Vds.': 'ustedes', 'S. M.': 'su majestad', 'SS. MM.': 'sus majestades', 'S. A. R.': 'su alteza real',
}; // prettier-ignore

const PLACES: Readonly<Record<string, Saying>> = {
  'C/': 'calle', 'c/': unlessDigit('calle', 'cada'), 'Cl.': beforeName('calle'), 'Av.': 'avenida', 'Avda.': 'avenida', 'Avd.': 'avenida',
  'Ave.': 'avenida',
  Avda: beforeName('avenida'), Av: beforeName('avenida'), 'av.': 'avenida', 'avda.': 'avenida', 'Pza.': 'plaza', 'Plza.': 'plaza',
  'Pl.': beforeName('plaza'), 'P.º': 'paseo', Pº: 'paseo', 'Ctra.': 'carretera', 'ctra.': 'carretera', 'Urb.': 'urbanización', 'Pol. Ind.': 'polígono industrial', 'pol. ind.': 'polígono industrial', 'P. I.': beforeName('polígono industrial'),
  'Blvr.': 'bulevar', 'Blvd.': 'bulevar', 'Bulev.': 'bulevar', 'Glta.': 'glorieta', 'Trav.': 'travesía', 'Rda.': 'ronda',
  'Cra.': 'carrera', 'Cll.': 'calle', 'edif.': 'edificio', 'Edo.': 'estado', 'Mpio.': 'municipio', 'prov.': 'provincia',
  'Fracc.': 'fraccionamiento', 'apdo.': 'apartado', 'izq.': 'izquierda', 'izqda.': 'izquierda', 'izda.': 'izquierda', 'dcha.': 'derecha',
  'der.': 'derecha', 'esq.': 'esquina', 's/n': 'sin número', 'S/N': 'sin número', 's/n.': 'sin número', 'entlo.': 'entresuelo',
  'pral.': 'principal', 'depto.': 'departamento', 'dpto.': 'departamento', 'Hab.': 'habitación', 'Deleg.': 'delegación', 'C. P.': 'código postal',
  'C.P.': 'código postal', CP: beforeDigit('código postal'), 'Bs. As.': 'Buenos Aires', Bº: 'barrio', 'B.º': 'barrio',
  'esc.': labelled('escalera'), 'pta.': labelled('puerta'),
  'Pta.': labelled('puerta'), 'bl.': labelled('bloque'), CDMX: 'Ciudad de México', 'Cdad.': 'ciudad',
}; // prettier-ignore

/** A director; before the number of one a directive of the Union. */
const director: Saying = (around) => {
  if (/^ ?(?:19|20)\d\d\//.test(textBehind(around, 6))) return 'directiva';
  return /^(?:la|una|señora|doña)$/.test(around.previousWord) ? 'directora' : 'director';
};

const OFFICE: Readonly<Record<string, Saying>> = {
  'cía.': 'compañía', 'Cia.': 'compañía', 'Ltda.': 'limitada', 'Bco.': 'banco', 'Univ.': 'universidad', 'Inst.': 'instituto',
  'admón.': 'administración', 'Secr.': 'secretaría', 'Dir.': director, 'Fdo.': 'firmado', 'cta.': 'cuenta', 'cte.': 'corriente',
  'pdo.': 'pasado', 'ppdo.': 'próximo pasado', 'dto.': flat, 'tel.': 'teléfono', 'teléf.': 'teléfono',
  tel: beforeNumberOf('teléfono'), Tel: beforeNumberOf('Teléfono'), tlf: beforeNumberOf('teléfono'), Tlf: beforeNumberOf('Teléfono'),
  cel: beforeNumberOf('celular'), 'tfno.': 'teléfono', Tfno: beforeNumberOf('Teléfono'), tfno: beforeNumberOf('teléfono'),
  Telf: beforeNumberOf('Teléfono'), 'telf.': 'teléfono', 'Rte.': 'remitente', 'y ss.': 'y siguientes',
  'tlf.': 'teléfono', 'móv.': 'móvil', 'cel.': 'celular', 'ref.': 'referencia', 'obs.': 'observación', 'pza.': 'pieza', 'pzas.': 'piezas',
  'cód.': 'código', 'S. A.': 'S A', 'S. L.': 'S L', 'S. A. de C. V.': 'S A de C V', 'S.A. de C.V.': 'S A de C V', 'P. D.': 'posdata',
  'V.º B.º': 'visto bueno', VºBº: 'visto bueno', 'I+D': 'I más D', 'I+D+i': 'I más D más I', 'AT&T': 'A T y T', 'c/u': 'cada uno',
  'a/a': 'a la atención', 'A/A': 'a la atención', 'd/f': 'días fecha', 'm/n': 'moneda nacional', 'n/a': 'no aplica',
  'N/A': 'no aplica',
}; // prettier-ignore

/** Doubled letters are plurals. */
const PLURALS: Readonly<Record<string, Saying>> = {
  'EE. UU.': 'Estados Unidos', 'EE UU': 'Estados Unidos', EEUU: 'Estados Unidos', 'E. U.': 'Estados Unidos', 'E.E.U.U.': 'Estados Unidos',
  'RR. HH.': 'Recursos Humanos', RRHH: 'Recursos Humanos', 'JJ. OO.': 'Juegos Olímpicos', JJOO: 'Juegos Olímpicos',
  'CC. AA.': 'comunidades autónomas', CCAA: 'comunidades autónomas', 'FF. AA.': 'Fuerzas Armadas', 'CC. OO.': 'Comisiones Obreras',
  CCOO: 'Comisiones Obreras', 'RR. PP.': 'relaciones públicas', 'AA. VV.': 'autores varios', 'DD. HH.': 'derechos humanos',
  DDHH: 'derechos humanos', 'RR. SS.': 'redes sociales', RRSS: 'redes sociales', 'FF. CC.': 'ferrocarriles', FFAA: 'Fuerzas Armadas',
  AAVV: 'autores varios',
}; // prettier-ignore

const RUNNING_TEXT: Readonly<Record<string, Saying>> = {
  'n.º': 'número', nº: 'número', 'n.os': 'números', 'núm.': 'número', 'núms.': 'números', 'pág.': 'página', 'págs.': 'páginas',
  'etc.': 'etcétera', etc: 'etcétera', 'p. ej.': 'por ejemplo', 'p.e.': 'por ejemplo', 'ej.': 'ejemplo', 'vs.': 'contra', vs: 'contra',
  'aprox.': 'aproximadamente', 'máx.': inGender('máximo'), 'mín.': inGender('mínimo'), 'ca.': beforeDigit('hacia'), 'cf.': 'compárese',
  'cfr.': 'compárese',
  'T.ª': 'temperatura', Tª: 'temperatura', Ø: 'diámetro', 's. n. m.': 'sobre el nivel del mar', 'r. p. m.': 'revoluciones por minuto', 'et al.': 'y otros',
  'op. cit.': 'obra citada', 'ibíd.': 'ibídem', 'ibid.': 'ibídem', 'vid.': 'véase',
  'i. e.': 'es decir', 'e. g.': 'por ejemplo', 'incl.': 'inclusive', 'excl.': 'excluido', 'y/o': 'y o', 'Y/O': 'y o',
  'a. C.': 'antes de Cristo', 'd. C.': 'después de Cristo', 'A. C.': afterYear('antes de Cristo'), 'D. C.': afterYear('después de Cristo'),
  'a. de C.': 'antes de Cristo', 'd. de C.': 'después de Cristo', 'a. e. c.': 'antes de la era común', 'a. m.': 'de la mañana',
  'p. m.': 'de la tarde', 'q. e. p. d.': 'que en paz descanse', 'D. E. P.': 'descanse en paz', 'N. del T.': 'nota del traductor',
  's. f.': 'sin fecha', 'ntro.': 'nuestro', 'atte.': 'atentamente', 'L-V': 'lunes a viernes', 'L-S': 'lunes a sábado',
  'L-D': 'lunes a domingo', 'tít.': 'título', 'trad.': 'traducción', 'lun.': weekday('lunes'),
  'mié.': weekday('miércoles'), 'jue.': weekday('jueves'), 'vie.': weekday('viernes'), 'sáb.': weekday('sábado'),
  'dom.': weekday('domingo'), x: times,
}; // prettier-ignore

const GREEK = greekLetters(
  'alfa beta gamma delta épsilon zeta eta theta iota kappa lambda mu nu xi ómicron pi ro sigma tau ípsilon fi ji psi omega',
);

export const ABBREVIATIONS = { ...TITLES, ...PLACES, ...GREEK, ...OFFICE, ...PLURALS, ...RUNNING_TEXT };

export const BEFORE_NUMBER: Readonly<Record<string, string>> = {
  'n.º': 'número', 'N.º': 'número', nº: 'número', Nº: 'número', 'n°': 'número', 'N°': 'número', 'n.°': 'número', 'N.°': 'número',
  'nro.': 'número', 'Nro.': 'número', 'No.': 'número', 'no.': 'número', 'num.': 'número', 'Num.': 'número', 'núm.': 'número',
  '#': 'número', 'n.os': 'números', 'nos.': 'números', '№': 'número', 'p.': 'página', 'P.': 'página', 'pp.': 'páginas', 'pág.': 'página',
  'Pág.': 'página', 'pag.': 'página', 'págs.': 'páginas', 'cap.': 'capítulo', 'Cap.': 'capítulo', 'caps.': 'capítulos', 'art.': 'artículo',
  'Art.': 'artículo', 'arts.': 'artículos', 'vol.': 'volumen', 'Vol.': 'volumen', 't.': 'tomo', 'fig.': 'figura', 'Fig.': 'figura',
  'figs.': 'figuras', 'tab.': 'tabla', 'sec.': 'sección', 'Sec.': 'sección', '§': 'sección', 'ap.': 'apartado', 'inc.': 'inciso',
  'párr.': 'párrafo', 'lín.': 'línea', 'ext.': 'extensión', 'Ext.': 'extensión', 'int.': 'interior', 'Int.': 'interior', km: 'kilómetro',
  Km: 'kilómetro', 'km.': 'kilómetro', 'Km.': 'kilómetro', 'ed.': 'edición', 'c.': 'circa', 'h.': 'hacia', 'dpto.': 'departamento',
  'Dpto.': 'departamento', 'Mz.': 'manzana', 'Lt.': 'lote', 'vers.': 'versión', 'v.': 'versión', 'Hab.': 'habitación',
  'hab.': 'habitación', 'esc.': 'escalera', 'pta.': 'puerta', 'D.L.': 'decreto ley', 'R. D.': 'real decreto', RD: 'real decreto', 'Exp.': 'expediente', 'exp.': 'expediente',
}; // prettier-ignore
