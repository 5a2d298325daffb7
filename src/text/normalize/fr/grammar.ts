// French grammar around a number: gender of the noun that follows, "de" before a noun, the plural.
import { valueOf } from '../numerals.js';
import type { Numeral } from '../numerals.js';
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
  assistante employée livraison livre_ once acre calorie mégatonne bactérie molécule cellule particule onde fréquence
`);
const FEMININE_ENDINGS =
  /(?:[tsx]ion|ité|ette|ence|ance|euse|trice|rée|née|lée|ade|tude|esse|elle|enne|aison|ille|erie|logie|graphie|ture)s?$/;
const MASCULINE = words(`silence squelette stade grade gradé modèle musée lycée gorille intervalle vermicelle libelle mille quadrille portefeuille
  trophée camée scarabée mausolée apogée violoncelle`);
const FEMININE_ADJECTIVES = words(`nouvelle grande petite bonne belle seule longue première dernière ancienne grosse haute vieille
  prochaine autre même simple double jeune`);

/** A noun (behind at most one adjective) that makes "une" of the 1 before it. */
export function isFeminineAhead(around: Around): boolean {
  const next = around.nextWord.toLowerCase();
  if (next === '') return false;
  if (isFeminine(next)) return true;
  return FEMININE_ADJECTIVES.has(next) && isFeminine(around.secondNextWord.toLowerCase());
}

export function isFeminine(word: string): boolean {
  const single = word.replace(/[sx]$/, '');
  if (FEMININE.has(word) || FEMININE.has(single)) return true;
  return word.length > 4 && FEMININE_ENDINGS.test(word) && !MASCULINE.has(single) && !MASCULINE.has(word);
}

const NUMBERED = words(`page pages numéro numéros chapitre article articles an années année ligne chambre salle porte étape volume tome
  section paragraphe figure tableau annexe partie version niveau bus tram vol train quai voie sortie option touche leçon exercice`);

/** Behind "page" or "numéro" a number names one thing and counts nothing. */
export function isNumbered(around: Around): boolean {
  return NUMBERED.has(around.previousWord);
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
  return /^(?:[aeiouyàâéèêîôœæ]|h(?:a[bl]|e|o[mnr]|ô[pt]|u[im]|y))/iu.test(noun) && !/^(?:yen|yuan|onz)/iu.test(noun) ? `d'${noun}` : `de ${noun}`;
}

const NO_NOUN = words('des aux ses mes tes les nous vous dans sous vers sans depuis mais plus moins dès après très puis alors pas fois hors dehors ailleurs près');

/** A word behind "3M" that is counted: 3M abonnés. */
export function isCounted(word: string): boolean {
  return /^\p{Ll}{3,}[sx]$/u.test(word) && !NO_NOUN.has(word);
}
