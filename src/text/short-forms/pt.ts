// Short forms of Portuguese.
import type { ShortFormLists } from './short-forms.js';

export const PORTUGUESE: ShortFormLists = {
  neverFinal: `
    sr sra srta srs sres sras dra dras profa prof.a eng enga cel gen exc exmo exma ilmo ilma pça trav estr p.ex p.ej av lic arq dto sto sta mons aprox
    rev hon esp sen gov ver
  `,
  beforeNumber: `
    nº nos num núm pág págs pag cap caps arts fasc secc séc ed ag cp cps comp cáps exp qtos
    jan fev mar abr jun jul nov dez seg sáb dom max min máx mín figs tít ap apt apto qd lt sl conj temp inc cat
  `,
  seldomFinal: `cia bl dna adv sgt pç lgo jd cj depto qtd qtde sécs att assoc univ inst obs col proc ibid`,
  seldomFinalAsWritten: `Cia Rod Dep Des Pe Dir Min Exa`,
  oftenFinal: `ltda lda s.a`,
  starters: `
    ele ela eles elas o a os as um uma uns umas mas e ou quando então eu nós tu você vocês ninguém tudo todos todas isso isto este esta estes estas esse essa não sim
    depois também além assim segundo se seu sua seus suas meu minha nosso nossa em no na nos nas com por para desde até sem sobre entre
    há é são foi foram era eram está estão será tem têm pode posso que quem como onde qual porque embora enquanto cada outro outra muitos muitas só muito mais
    hoje amanhã ontem agora aqui ali lá já nunca sempre obrigado obrigada olá bom boa
    morreu nasceu viveu veja ligue venha vá pressione prima digite marque aguarde espere tome vire siga visite traga pergunte escreva envie faça lembre
  `,
  seldomFinalHere: `drs gal ten maj alm pres esq dept ee uu desc sa ter qua qui sex res dec da fr tv vl vel`,
};
