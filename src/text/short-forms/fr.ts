// Short forms of French.
import type { ShortFormLists } from './short-forms.js';

export const FRENCH: ShortFormLists = {
  neverFinal: `m mm mme mlle mgr pr tél réf env p.ex c.-à-d av bd bld boul adr éd dép cie approx hon gén lt col coll`,
  beforeNumber: `
    nos nº num vols figs pg chap par ed éd ref réf sect ch
    exp bât al chap temp
    janv févr fév avr juil sept oct nov déc lun jeu ven sam dim max min env juill
    ann tab éq ca
  `,
  starters: `
    il elle on ils elles nous vous je tu le la les un une ce cette ces cet mais et ou où si quand puis donc car
    c'est j'ai j'en ça cela depuis aujourd'hui hier demain maintenant ensuite enfin après avant pendant dans sur pour par avec sans chez
    vers selon en leur leurs son sa ses mon ma mes ton ta tes notre votre nos vos tout tous toute toutes chaque plusieurs certains
    beaucoup peu personne rien jamais toujours ici là voici voilà aussi qui que quoi comment pourquoi combien quel quelle quels quelles
    merci bonjour oui non est était sont avait ont il y
    appelez appelle venez viens prenez tournez tapez composez attendez dites entrez sonnez suivez visitez allez regardez appuyez cliquez
    n'oubliez qu'est-ce
  `,
  seldomFinalAsWritten: `Me`,
  seldomFinal: `ste esc sqq civ cass pén trav cdt appt ét asc moy suiv suppl assoc gouv`,
  seldomFinalHere: `com gal arr pl apt resp hab trad incl excl all imp`,
  shortStarters: `cf env ex`,
};
