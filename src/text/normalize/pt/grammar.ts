// Portuguese grammar around a number: whether the next word is counted by it, and its gender.
import type { Around } from '../reading.js';
import type { Gender } from './numbers.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

/** Behind a number these are no counted nouns. */
const NOT_COUNTED = words(`
  a à às ante antes ao aos as até com como contra da das de depois desde do dos durante e é ela ele em então entre era essa essas esta está
  estão estas foi foram há hoje
  já lhe mais mas menos mil na nas nem no nos não o os ou para pela pelas pelo pelos por porque pois que quem se segundo sem ser será sob
  sobre são sua suas também tem têm
  toda todas um uma vai vs ontem amanhã agora aqui ali lá cada quando ganha ganhou perde perdeu fica ficou custa vale mede pesa disse esq
  dto esquerdo direito
  janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
`);

/** A number behind these names the thing and counts nothing: página vinte e um. */
export const LABELS = words(`
  número página capítulo artigo linha nível passo opção sala porta quarto mesa voo código grupo canal tomo volume figura tabela lei rodovia
  rota quilômetro quilómetro andar
  prédio bloco lote rua avenida ano anos versão fase etapa seção secção apartado ponto exercício pergunta resposta tema unidade lição
  módulo parte rodada jornada dia fórmula
  tipo classe categoria zona distrito plataforma terminal ônibus autocarro trem comboio pedido fatura senha turno assento poltrona fila
  camisa erro apartamento casa
`);

const INVARIABLE = words(
  'grandes principais melhores piores maiores menores possíveis diferentes grande principal melhor maior',
);

const FEMININE = words(`
  mão mãos foto fotos moto motos noite noites tarde tardes classe classes imagem imagens parte partes lei leis rede redes chave chaves nave
  naves frase frases base bases fase fases
  série séries tese teses crise crises dose doses mulher mulheres flor flores vez vezes luz luzes voz vozes cruz cruzes atriz atrizes
  matriz cicatriz parede paredes torre torres
  carne sede sedes espécie espécies superfície morte mortes fonte fontes mente gente corrente correntes ordem ordens viagem viagens
  mensagem mensagens passagem passagens página
  maçã maçãs manhã manhãs irmã irmãs equipe equipes equipa enquete nuvem nuvens árvore árvores cor cores dor dores colher colheres tribo
  tribos capital capitais pá pás
  gravidez nudez fé neve suíte suítes estante estantes variante variantes constante constantes vírgula decisão
`);

const MASCULINE = words(`
  dia dias mapa mapas problema problemas programa programas sistema sistemas tema temas idioma idiomas clima climas planeta planetas
  esquema esquemas diagrama diagramas poema poemas
  drama dramas sintoma sintomas diploma diplomas fantasma fantasmas aroma aromas atleta atletas poeta poetas colega colegas turista
  turistas artista artistas jornalista jornalistas
  ciclista ciclistas especialista especialistas motorista motoristas policial policiais guarda guardas grama gramas quilograma quilogramas
  telegrama cometa cometas sofá sofás
  coração corações avião aviões caminhão caminhões milhão milhões bilhão bilhões cidadão cidadãos pão pães mês meses país países pijama
  pijamas dilema dilemas teorema camarada
  chá chás alfa carioca paulista paulistas dentista dentistas taxista ativista ativistas leão leões balão balões botão botões cartão
  cartões feijão portão portões vulcão
  limão limões melão melões avô órgão órgãos grão grãos irmão irmãos verão verões galão galões
`);

export function genderOf(noun: string): Gender {
  const word = noun.toLowerCase();
  if (MASCULINE.has(word)) return 'm';
  if (FEMININE.has(word)) return 'f';
  return /(?:as?|[sçx]ões|[sçx]ão|[st]iões|dades?|tudes?|gens?|triz(?:es)?)$/.test(word) ? 'f' : 'm';
}

/** In 21 pessoas, 2 casas, 200 novas vagas, 1 hora: as what follows asks; else masculine. */
export function agreementOf(one: boolean, around: Around): Gender {
  const next = around.nextWord;
  if (LABELS.has(around.previousWord)) return 'm';
  if (!/^\p{Ll}/u.test(next) || NOT_COUNTED.has(next)) return genderAlone(one, around);
  const noun = INVARIABLE.has(next) ? around.secondNextWord : next;
  if (one === noun.endsWith('s') && !FEMININE.has(noun)) return 'm';
  return genderOf(noun);
}

const SHARED = /^ (?:e|ou|a) \d[\d.,]{0,14} (\p{Ll}{2,24})/u; // 2 ou 3 pessoas

/** Umas quinhentas, às duas, à uma: the article shows the gender, or the noun behind the next number. */
function genderAlone(one: boolean, { text, end, previousWord }: Around): Gender {
  const noun = SHARED.exec(text.slice(end, end + 48))?.[1] ?? '';
  if (noun !== '' && !NOT_COUNTED.has(noun) && !one) return genderOf(noun);
  if (/^ d(?:as|elas)(?!\p{L})/u.test(text.slice(end, end + 8))) return 'f'; // 2 das 3 vagas
  if (/^ da (?:manhã|tarde|noite|madrugada)/.test(text.slice(end, end + 16))) return 'f'; // são 2 da manhã
  if (one) return previousWord === 'à' ? 'f' : 'm';
  return /^(?:às|as|das|nas|pelas|umas|estas|essas|outras|todas)$/.test(previousWord) ? 'f' : 'm';
}

/** True if the word that follows is a noun (or its adjective) that an ordinal stands before. */
export function standsBeforeNoun(around: Around): boolean {
  const next = around.nextWord;
  return /^\p{L}{2,}/u.test(next) && !/^\p{Lu}+$/u.test(next) && !NOT_COUNTED.has(next.toLowerCase());
}

/** Between the ends of a range: entre 20 e 30, de 10 a 12. */
export function rangeWord(around: Around): string {
  return around.previousWord === 'entre' || around.secondPreviousWord === 'entre' ? 'e' : 'a';
}
