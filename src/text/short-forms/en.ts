// Short forms of English.
import type { ShortFormLists } from './short-forms.js';

export const ENGLISH: ShortFormLists = {
  neverFinal: `
    drs rev hon gen col capt cmdr lt sgt maj sen rep gov pres supt sens reps govs profs atty attys asst mses bldg cpl pvt adm brig rt insp det ofc amb treas cllr msgr messrs mme mlle mgr approx esp eg viz incl excl
  `,
  beforeNumber: `
    nos vols figs pg sec ch chap par para ed eq est ref lb lbs oz apt max min exp rs fl pop acct ver cl rm rte hwy inv qty amt mob ph supp ser temp
    matt cor rom eph exod lev deut isa jer heb thess
    jan feb mar apr jun jul aug sep sept oct nov dec
    pt
  `,
  seldomFinal: `sr fr ft ave blvd rd ln sq hwy pkwy ct ste dept univ assn bros expy mpls calif fla psy.d ed.d intl natl attn mfg mgmt appt avg misc orig qtr pkg`,
  oftenFinal: `esq hr yr mo wk`,
  seldomFinalAsWritten: `Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Mass Conn Tex Penn Tech Dir Admin`,
  afterTime: `
    eastern central pacific mountain atlantic greenwich universal local standard daylight
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
  `,
  starters: `
    i he she it we you they this that these those there here the a an my your his her its our their
    but and or so if when while after before because since although though however then thus therefore moreover
    what who why where how which whose is are was were do does did can could will would should shall must might has have had
    please yes no not now well okay ok sure great thanks thank sorry welcome hello maybe perhaps also finally later today tomorrow tonight
    yesterday nobody everybody everyone anyone someone nothing something everything some many most every both each several few neither
    either none another once all any only just still even yet again instead otherwise meanwhile next unless until whether despite
    at in on as by for from with to let let's it's that's i'm he's she's we're you're they're don't
    i'll i've i'd you'll you've we'll we've they'll they've he'll she'll it'll there's here's what's who's where's how's
    isn't aren't wasn't weren't doesn't didn't can't cannot couldn't wouldn't won't shouldn't haven't hasn't
    call press dial enter turn take go come visit ask look see check meet bring follow try make keep leave wait say tell give send
    use find click tap contact remember text email continue arrive buy learn join save pay open start stop add choose select enjoy watch listen note
    consider tap scan download upgrade update reply confirm subscribe nothing everyone
  `,
  seldomFinalHere: `ca est cont temps`,
  shortStarters: `approx cf eg ie`,
};
