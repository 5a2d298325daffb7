// Short forms of German.
import type { ShortFormLists } from './short-forms.js';

export const GERMAN: ShortFormLists = {
  neverFinal: `
    hr fr abt dipl.-ing dipl.-kfm univ.-prof dipl-ing priv-doz ing z.b d.h u.a i.d.r u.u v.a bzw ggf sog inkl exkl zzgl evtl vgl ca bspw insb
    approx hd bzgl ehem mtl lfd dt engl gegr verst frl inh bj ggfs zzt o.g abzgl exkl insbes einschl lt
    hrn ggü tgl tägl wöchentl monatl jährl pfr bgm ausschl voraussichtl vsl gesetzl schriftl frz ital versch österr europ techn wiss kath griech zusätzl persönl dipl u.e m.e
    dipl.-kffr dipl.-päd dipl.-biol dipl.-psych dipl.-inf priv.-doz
  `,
  beforeNumber: `
    op h drs nos abs kap abb bd bl s str nrn pos ziff art mwst mind max min anm rn rdnr rz jg kl gl sp az gz kto hausnr beil anl nrn fn zi temp zw
    jan jän feb mär apr jun jul aug sep sept okt nov dez
    tab idnr
  `,
  seldomFinal: `
    ff e.v str bhf hbf mio mrd gem geb gest std sek stk pers tsd pkt whg urt beschl jh jhd jhdt aufl hrsg verf tabl tbl
    ztr wo pfd pck pkg pckg stck em freundl herzl geb.-dat zw gez eff amerik evang allg öff spez urspr kfm poln türk vorl dgl verh entspr bsp vjs vers habil dres geschl durchg blk mitgl geschw abzügl zuzügl telef vorm nachm
    jew buchst ausg forts hptm gesch verw verk
  `,
  seldomFinalAsWritten: `Fa Mag Min Sek Bio Gr`,
  oftenFinal: `usw usf etc.pp chr ust og`,
  starters: `
    er sie es wir ich ihr das der die den dem ein eine einen einem einer und aber oder wenn als doch dann danach dort hier da dies diese dieser dieses
    danke bitte gut ja nein heute morgen gestern jetzt was wer wo wann warum wie welche welcher welches alle viele einige manche nun also mehr nichts
    niemand jemand man kein keine mein meine dein deine sein seine unser unsere sind ist hat haben kann können war waren wird werden wurde soll sollen muss
    müssen im auf mit von zu bei nach für seit ab aus am an um bis durch ohne gegen vor über unter zwischen trotzdem außerdem deshalb daher leider
    vielleicht natürlich gerne gern sehr so nur noch schon auch nie immer ob weil dass falls obwohl während bevor
    rufen ruf rufe drücken drücke kommen komm komme gehen geh gehe biegen nehmen melden sagen sag sage geben bringen warten fahren
    denken achten wählen klicken öffnen ihre ihren ihrem möchten wollen wünschen brauchen gibt sonst anschließend zuerst zunächst schließlich insgesamt
    allerdings zudem ferner ebenso laut trotz wegen dank dazu dabei damit davon dafür darum davor derzeit aktuell bislang bisher bereits beide jeder
    jede jedes etwa rund wenige mehrere sobald solange sofern zum zur vom beim innerhalb dürfen darf sollten könnten würden hätten bleiben bleibt
    fragen schauen sehen lesen stellen legen prüfen senden schicken schreiben antworten bestätigen vielen herzlichen liebe lieber sollte könnte
  `,
  beforeOrdinal: `
    am im der die das den dem des vom zum zur bis ab seit dieser dieses diesen diesem jeder jeden
    ihr ihre ihrem ihren ihres sein seine seinem seinen seines mein meine meinem meinen unser unsere unserem unseren ein eine einem einen
    jedes jede jedem eines einer seiner ihrer meiner unserer beim dein deine deinem deinen deiner kein keine keinen keinem keiner euer eure ihres seines
    jenes letzten nächsten beiden
  `,
  afterOrdinal: `
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jahrhundert jahrhunderts weltkrieg weltkriegs klasse stock etage geburtstag mal platz rang tag woche monat
    quartal kapitel abschnitt auflage feber halbjahr liga bundesliga semester spieltag advent senat bezirk lebensjahr stockwerk obergeschoss
    untergeschoss aufl fc fsv sc sinfonie symphonie sonate klavierkonzert violinkonzert streichquartett amtszeit todestag jahrestag hochzeitstag saison og ug jh jhd jhdt halbzeit runde hälfte jahrtausend vorsitzende vorsitzender
  `,
  seldomFinalHere: `franz bd zi min ct ri span lat russ div zt bed pl reg rel vj drs kü tr lit sc ll bes`,
  shortStarters: `vgl ca evtl ggf inkl exkl zzgl insb insbes bspw max min mind lt gem entspr einschl bzgl`,
};
