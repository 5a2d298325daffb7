// Spanish grammar around a number: whether the next word is counted by it, and its gender.
import type { Around } from '../reading.js';
import type { Agreement, Gender } from './numbers.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Behind a number these are no counted nouns. */
const NOT_COUNTED = words(`
  a ante antes aproximadamente al aún bajo como con contra cuando de del desde después donde durante e el ella en entonces entre era es
  esta está este
  están fue ha había hacia hasta la las le les lo los más mas menos mientras mil ni no o para pero por porque pues que quien se según sea
  ser será si
  sí sin sobre son su sus también te tiene tienen tras u un una unos unas y ya vs viene termina empieza llega sale cuesta vale igual otro otra
  puede pueden debe gana ganó pierde perdió queda quedan hay hoy ayer mañana ahora aquí allí además luego mide pesa dice
  izq izqda izda dcha der izquierda derecha bis
  enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre lunes martes miércoles jueves viernes
`);

/** A number behind these names the thing and counts nothing: página veintiuno. */
export const LABELS = words(`
  número numero núm página capítulo artículo línea nivel paso opción sala puerta habitación mesa vuelo código grupo canal tomo volumen
  figura tabla ley
  carretera autopista ruta kilómetro piso planta edificio bloque lote portal calle avenida carrera año años versión fase etapa sección
  apartado punto
  ejercicio pregunta respuesta tema unidad lección módulo parte jornada ronda día fórmula tipo clase categoría zona distrito andén vía terminal
  autobús bus tren pedido factura ticket turno asiento fila dorsal error
`);

const INVARIABLE = words(
  'grandes principales mejores peores mayores menores posibles diferentes grande principal mejor mayor',
);

const FEMININE = words(`
  mano manos foto fotos moto motos noche noches tarde tardes calle calles clase clases imagen imágenes parte partes ley leyes red redes llave llaves
  nave naves nube nubes frase frases base bases fase fases serie series tesis crisis dosis síntesis hipótesis mujer mujeres flor flores
  señal señales
  sal piel pieles cárcel cárceles sede sedes superficie superficies especie especies muerte muertes fuente fuentes mente gente corriente corrientes
  orden órdenes razón razones vez veces luz luces voz voces cruz cruces raíz raíces actriz actrices matriz directriz cicatriz cicatrices
  pared paredes
  torre torres sangre nieve leche carne llave suerte base miel hambre sed tos fe mayoría radio radios web webs app apps sim vacante vacantes
  variante variantes constante constantes pyme pymes ong aerolínea comisaria opción col coles web hectárea madre madres autopista libra
  nariz narices lombriz perdiz codorniz nuez nueces paz tez sien sienes crin plebe índole serpiente serpientes
`);

const MASCULINE = words(`
  día días mediodía mapa mapas problema problemas programa programas sistema sistemas tema temas idioma idiomas clima climas planeta
  planetas esquema
  esquemas diagrama diagramas poema poemas drama dramas síntoma síntomas diploma diplomas fantasma fantasmas aroma aromas enigma enigmas
  sofá sofás papá
  papás tranvía tranvías policía policías guardia guardias atleta atletas poeta poetas colega colegas turista turistas artista artistas
  periodista periodistas futbolista futbolistas ciclista ciclistas deportista deportistas especialista especialistas tenista tenistas
  taxista taxistas
  activista activistas dentista dentistas yoga gorila gorilas telegrama crucigrama crucigramas pijama pijamas dilema dilemas teorema teoremas
  trauma traumas cometa cometas guía guías cura camión camiones avión aviones gramo gas gases mes meses interés país países autobús compás
`);

export function genderOf(noun: string): Gender {
  const word = noun.toLowerCase();
  if (MASCULINE.has(word)) return 'm';
  if (FEMININE.has(word)) return 'f';
  if (/(?:as|a|[csgxn]iones|[csgxn]ión|dad(?:es)?|tad(?:es)?|tud(?:es)?|umbres?|triz|trices)$/.test(word))
    return 'f';
  return 'm';
}

const PLURAL = /^\p{L}{2,}s$/u;
const SINGULAR = /^\p{L}{2,}[^s]$/u;

/** In 21 personas, 31 días, 200 nuevas plazas, 1 hora: as what follows asks; else alone. */
export function agreementOf(one: boolean, around: Around): Agreement {
  const next = around.nextWord;
  if (LABELS.has(around.previousWord)) return 'alone';
  if (!/^\p{Ll}/u.test(next) || NOT_COUNTED.has(next)) return pronounGender(one, around);
  const noun = INVARIABLE.has(next) ? around.secondNextWord : next;
  if (one && /^(?:el|del|al)$/.test(around.previousWord)) return 'alone';
  if (!(one ? SINGULAR : PLURAL).test(noun) && !FEMININE.has(noun) && !MASCULINE.has(noun)) return 'alone';
  return genderOf(noun);
}

const SHARED = /^ (?:y|o|u|a) \d[\d.,]{0,14} (\p{Ll}{2,24})/u; // 200 o 300 personas

/**
 * Unas quinientas, a las veintiuna, a la una: the article shows the gender, or the noun behind the next
 * number.
 */
function pronounGender(one: boolean, around: Around): Agreement {
  const before = around.previousWord;
  const noun = SHARED.exec(around.text.slice(around.end, around.end + 48))?.[1] ?? '';
  if (PLURAL.test(noun) && !NOT_COUNTED.has(noun) && genderOf(noun) === 'f' && !one) return 'f';
  // 31 de las 41 víctimas.
  if (/^ de (?:las|ellas)(?!\p{L})/u.test(around.text.slice(around.end, around.end + 11))) return 'f';
  if (one)
    return before === 'la' &&
      /^(?:a|de|desde|hasta|sobre|hacia|es|era|será|sea|para)$/.test(around.secondPreviousWord)
      ? 'f'
      : 'alone';
  return /^(?:las|unas|aquellas|estas|esas|otras|todas)$/.test(before) ? 'f' : 'alone';
}

/** True if the word that follows is a noun (or its adjective) that an ordinal stands before. */
export function standsBeforeNoun(around: Around): boolean {
  const next = around.nextWord;
  return /^\p{L}{2,}/u.test(next) && !/^\p{Lu}+$/u.test(next) && !NOT_COUNTED.has(next.toLowerCase());
}

/** Between the ends of a range: entre 20 y 30, del 10 al 12, else a. */
export function rangeWord(around: Around): string {
  const [before, second] = [around.previousWord, around.secondPreviousWord];
  if (before === 'entre' || second === 'entre') return 'y';
  return before === 'del' || before === 'el' ? 'al' : 'a';
}
