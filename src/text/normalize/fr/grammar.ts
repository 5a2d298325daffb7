// French grammar around a number: gender of the noun that follows, "de" before a noun, the plural.
import { type Numeral, valueOf } from '../numerals.js';
import type { Around } from '../reading.js';

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

const FEMININE = words(`
  heure minute seconde journée soirée matinée semaine année fois page personne fille femme dame question réponse place table chambre
  voiture pièce étape ligne carte lettre porte pomme boîte bouteille tasse cuillère tonne mère soeur sœur maison ville rue école
  entreprise équipe offre commande facture chose voix vie nuit tâche classe couche branche île équation usine image vidéo photo
  application alerte erreur mise remise demande salle clé clef chaîne norme règle ferme roue étoile feuille balle arme bombe
  victime attaque grève loi réforme taxe prime banque société plainte enquête visite amie cliente candidate étudiante élève_
  agence adresse adhérente annonce minorité majorité part partie tranche tablette goutte pilule dose gélule piqûre ampoule
  moto bicyclette roche planète galaxie langue phrase syllabe virgule note chanson série saison émission manche médaille
  victoire défaite course flèche partie touche option case colonne rangée fenêtre base copie page_web requête clause
  bière pizza crêpe tarte tomate orange poire fraise carotte salade soupe assiette fourchette vache poule chèvre
  brebis abeille fourmi plante fleur forêt montagne rivière plage piscine église cathédrale gare station borne prise
  licence amende peine caisse poche paire douzaine dizaine quinzaine vingtaine trentaine centaine nuitée demi-heure marche
  idée vie pluie envie copie maladie batterie série catégorie fin main dent jambe tête bouche oreille épaule jupe robe chemise veste chaussure valise montre
  bague guitare couleur odeur peur faveur douleur valeur longueur largeur hauteur profondeur saveur vapeur vente crise thèse méthode période hypothèse
  plage cage rage cible lampe pompe force source course bourse aide fête bête tempête zone somme gomme lettre route faute chute dispute capsule formule barre
  gousse mousse trousse housse guerre pierre terre info promo appli radio star fourmi foi paroi croix noix souris mer cour mort coupe recette arrivée annexe audience date limite
  assistante employée livraison livre_ once acre calorie mégatonne bactérie molécule cellule particule onde fréquence
`);
const FEMININE_ENDINGS =
  /(?:otte|rque|eque|[tsxg]ion|té|ée|rie|ette|ence|ance|euse|trice|ade|tude|esse|elle|enne|aison|ille|logie|graphie|omie|opie|ogie|ffe|ure|ise|ine|une|ude|ole|eille|ace)s?$/;
const MASCULINE =
  words(`silence squelette stade grade gradé modèle musée lycée gorille intervalle vermicelle libelle mille quadrille portefeuille
  trophée camée scarabée mausolée apogée violoncelle comté côté été traité député pâté arrêté comité côtés invité décolleté pré-été génie incendie
  parapluie acheté ajouté raté compté excepté prélude interlude coude sosie musée athée domaine magazine capitaine moine patrimoine pétrole symbole protocole monopole contrôle espace palace visage bilan murmure
  jaune jeûne dinosaure mercure cyanure carbure oreiller royaume appareille soleil gaze régime costume volume rhume légume bitume parfum vaccine jeune monopole rôle pôle saule drôle môle gosse carrosse colosse gaffe canevas hymne exercice délice vice office service précipice indice bénéfice artifice sacrifice orifice athlète`);
const FEMININE_ADJECTIVES =
  words(`nouvelle grande petite bonne belle seule longue première dernière ancienne grosse haute vieille
  prochaine autre même simple double jeune`);

const STREET =
  /^(?:rue|avenue|place|impasse|allée|route|ruelle|chaussée|villa|cité|esplanade|promenade|traverse|voie)$/;
const OF_NAME = /^ \p{L}+ (?:d[eu]s?(?!\p{L})|d['’]|la |l['’]|les |aux? |\p{Lu}|St|\d)/u;

/** 21 rue des Lilas: the number of a house. */
function isHouse({ text, start, end }: Around, next: string): boolean {
  if (!STREET.test(next)) return false;
  return text.slice(start, end) !== '1' || OF_NAME.test(text.slice(end, end + 24));
}

const ONE_OR_TWO = /^ (?:à|ou) \d{1,3} (\p{L}{3,24})/u; // 1 à 2 gélules

/** A noun (behind at most one adjective) that makes "une" of the 1 before it. */
export function isFeminineAhead(around: Around): boolean {
  const next = around.nextWord.toLowerCase();
  if (next === '') return false;
  if (next === 'à' || next === 'ou') {
    const [, noun = ''] = ONE_OR_TWO.exec(around.text.slice(around.end, around.end + 40)) ?? [];
    return isFeminine(noun.toLowerCase());
  }
  if (isHouse(around, next)) return false;
  if (isFeminine(next)) return true;
  return FEMININE_ADJECTIVES.has(next) && isFeminine(around.secondNextWord.toLowerCase());
}

export function isFeminine(word: string): boolean {
  const single = word.replace(/[sx]$/, '');
  if (FEMININE.has(word) || FEMININE.has(single)) return true;
  return word.length > 4 && FEMININE_ENDINGS.test(word) && !MASCULINE.has(single) && !MASCULINE.has(word);
}

const NUMBERED =
  words(`page pages numéro numéros chapitre article articles an années année ligne chambre salle porte étape volume tome
  section paragraphe figure tableau annexe partie version niveau bus tram vol train quai voie sortie option touche leçon exercice`);

/** Behind "page" or "numéro" a number names one thing and counts nothing. */
export function isNumbered(around: Around): boolean {
  return NUMBERED.has(around.previousWord.replace(/^(?:l|d|qu)['’]/, ''));
}

/** Between two ends of a range: entre cinq et dix, cinq à dix. */
export function and(around: Around): 'et' | 'à' {
  return around.previousWord === 'entre' ? 'et' : 'à';
}

/** Two is the first plural: 1,5 litre, 0 degré, 2 litres. */
export function isPlural(numeral: Numeral): boolean {
  return Math.abs(valueOf(numeral)) >= 2;
}

/** Millions d'euros, millions de yens. */
export function of(noun: string): string {
  return /^(?:[aeiouyàâéèêîôœæ]|h(?:a[bl]|e|o[mnr]|ô[pt]|u[im]|y))/iu.test(noun) &&
    !/^(?:yen|yuan|onz)/iu.test(noun)
    ? `d'${noun}`
    : `de ${noun}`;
}

const NO_NOUN = words(
  'des aux ses mes tes les nous vous dans sous vers sans depuis mais plus moins dès après très puis alors pas fois hors dehors ailleurs près',
);

/** A word behind "3M" that is counted: 3M abonnés. */
export function isCounted(word: string): boolean {
  return /^\p{Ll}{3,}[sx]$/u.test(word) && !NO_NOUN.has(word);
}
