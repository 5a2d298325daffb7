// The words of scripted callers and of the scripted model.

export const QUESTIONS = [
  'When does the next train to Hamburg leave?',
  'I would like to change the address of my order.',
  'Can you tell me whether the shop is open on Sunday?',
  'Yes, please.',
  'My order has not arrived yet.',
  'What does the large one cost?',
  'No, thank you, that is all.',
  'I need a taxi to the airport tomorrow morning.',
  'How long will it take?',
  'Please send it to my office.',
  'The blue one.',
  'Is there a later flight on Friday?',
] as const;

export const ANSWERS = [
  'It leaves at ten past nine from platform four.',
  'Sure, which address shall I use from now on?',
  'Let me see. The shop is open from ten to four.',
  'Good, then I will do that right away.',
  'I am sorry to hear that, so let me look for it.',
] as const;

export const INTERRUPTIONS = [
  'Stop, I have a question.',
  'Excuse me, can I ask you something?',
  'Wait a moment, please, I want to know the price.',
  'No, that is not what I meant.',
  'Hold on, could you repeat that?',
  'Sorry, I have to go now.',
  'Please stop talking.',
  'That is enough, thank you.',
] as const;

/** A part of a sentence: as it is spoken, and as recognisers write it. */
interface Part {
  readonly say: string;
  readonly text: string;
}

export interface PausedSentence {
  readonly kind: 'number' | 'spelling' | 'list' | 'thinking';
  readonly parts: readonly Part[];
}

const part = (say: string, text = say): Part => ({ say, text });

/** Sentences with pauses in them. */
export const PAUSED: readonly PausedSentence[] = [
  {
    kind: 'number',
    parts: [
      part('My number is oh one seven one', 'My number is 0171'),
      part('five five five', '555'),
      part('two three four two', '2342.'),
    ],
  },
  { kind: 'thinking', parts: [part('I would like to book a table for'), part('four people.')] },
  {
    kind: 'spelling',
    parts: [part('My name is Smith, S M', 'My name is Smith, S M'), part('I T H', 'I T H.')],
  },
  {
    kind: 'list',
    parts: [part('I need two pizzas,'), part('a salad,'), part('and a bottle of water.')],
  },
  { kind: 'thinking', parts: [part('I would like to order a pizza'), part('with mushrooms and cheese.')] },
  {
    kind: 'number',
    parts: [part('The order is four four seven one', 'The order is 4471'), part('nine eight', '98.')],
  },
  { kind: 'thinking', parts: [part('Can you tell me'), part('when the last bus leaves?')] },
  { kind: 'thinking', parts: [part('I wanted to ask, um,'), part('whether my order has been sent.')] },
  { kind: 'list', parts: [part('On Monday,'), part('Wednesday,'), part('and Friday.')] },
  { kind: 'thinking', parts: [part('My train was late'), part('so I missed the last bus to the hotel.')] },
  {
    kind: 'spelling',
    parts: [part('It is written K O', 'It is written K O'), part('W A L', 'W A L'), part('S K I', 'S K I.')],
  },
  { kind: 'thinking', parts: [part('I live in Berlin'), part('near the main station.')] },
];

/** Words of the caller for somebody else in the room. */
export const ASIDES = [
  'Just put it on the table, Tom.',
  'I am on the phone, give me a minute.',
  'Did you feed the dog?',
] as const;

/** Words of a television behind the caller. */
export const TELEVISION = [
  'And now the news of the day from all over the country.',
  'The weather will be fine tomorrow, with some clouds in the north.',
  'Buy two of them today and you get the third one for free.',
] as const;

/** A minute without a long pause. */
export const STORY_SENTENCES = [
  'There was a miller who left his three sons only his mill, his donkey and his cat.',
  'The oldest took the mill and the second one took the donkey, so the youngest had nothing but the cat.',
  'He was sad about so little, but the cat said that he should not worry and give him a pair of boots.',
  'With these boots the cat walked into the forest and caught a rabbit in a bag with some bread.',
  'He carried the rabbit to the king and told him that it was a present of his master.',
  'The king was so pleased with the present that he gave the cat a bag of gold to carry home.',
  'For two or three months the cat went on to carry some of his catch to the king from time to time.',
  'One day when he knew that the king would drive along the river with his daughter he told his master to bathe.',
  'While he was bathing the king came by and the cat began to cry that his master was going to drown.',
  'The king put his head out of the window and when he saw the cat he told his guards to run and help.',
  'Then the cat ran ahead and told the people in the fields what they should say when the king asked them.',
  'At last he came to a castle whose owner was the richest that had ever been known in the whole country.',
] as const;

export const STORY = STORY_SENTENCES.join(' ');
