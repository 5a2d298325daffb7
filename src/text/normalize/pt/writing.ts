// Written forms of Portuguese, as data.
import type { Writing } from '../language.js';
import { ABBREVIATIONS, BEFORE_NUMBER } from './abbreviations.js';
import { CURRENCIES, CURRENCY_SIGNS, MAGNITUDES, PER, UNITS } from './units.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

function after(list: string, kind: 'cardinal' | 'ordinal'): [string, 'cardinal' | 'ordinal'][] {
  return list
    .trim()
    .split(/\s+/)
    .map((word) => [word, kind]);
}

const MONTHS = [
  ['janeiro', 'jan', 'jan.'], ['fevereiro', 'fev', 'fev.'], ['março', 'mar', 'mar.'], ['abril', 'abr', 'abr.'], ['maio', 'mai', 'mai.'],
  ['junho', 'jun', 'jun.'],
  ['julho', 'jul', 'jul.'], ['agosto', 'ago', 'ago.'], ['setembro', 'set', 'set.'], ['outubro', 'out', 'out.'],
  ['novembro', 'nov', 'nov.'], ['dezembro', 'dez.'],
]; // prettier-ignore
const WEEKDAYS = [
  ['segunda', 'seg.', 'Seg', 'Seg.'], ['terça', 'ter.', 'Ter', 'Ter.'], ['quarta', 'qua.', 'Qua', 'Qua.'],
  ['quinta', 'qui.', 'Qui', 'Qui.'], ['sexta', 'sex.', 'Sex', 'Sex.'], ['sábado', 'sáb.', 'Sáb', 'Sáb.'],
  ['domingo', 'dom.', 'Dom', 'Dom.'],
]; // prettier-ignore

export const WRITING: Writing = {
  numbers: { decimal: ',', grouping: ['.', ' '], other: { decimal: '.', grouping: [','] } },
  dates: {
    months: MONTHS,
    weekdays: WEEKDAYS,
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
  currencySigns: CURRENCY_SIGNS,
  units: UNITS,
  per: PER,
  magnitudes: MAGNITUDES,
  ordinalMark: '[.]?(?:[ºª°]s?|[oa]s?(?=[.]?(?:[\\s,;:)]|$)))(?:[.](?= \\p{Ll}))?',
  abbreviations: ABBREVIATIONS,
  beforeNumber: BEFORE_NUMBER,
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
}; // prettier-ignore
