// What 번, 대 and 분 count: 3번 출구 and 정답은 3번 are names, 하루 3번 tells how often; 20대 is an age, 차 2대 are counted.
import type { Quantity } from '../language.js';
import type { Around } from '../reading.js';

export const LAST_TIME = 20; // 스무 번, but 이십일번 is the name of something

// Behind the number: what has one.
const NAMED =
  /^(?:은|이(?!나|상|하|내|었|라도)|과|이나 ?\d|으로|에서|부터|까지(?= ?(?:문제|문항|항목|번호|출구))|을(?! ?(?:더|연속|실패|시도|했|하|반복|이겼|이기|졌|봤|만났|찾|물|갔|왔|도전|넘|채))|(?:입|이에|예|인데|이죠|이고|이며|인가|일|이었)| ?(?:앞(?!서)|옆|출구|버스|게이트|홈|국도|도로|고속|문항|문제|창구|좌석|승강장|선수|타자|투수|테이블|방|메뉴|트랙|채널|항목|보기|후보|시드|교향곡|마을버스|노선|탑승구|진료실|진찰실|검사실|상담실|강의실|교실|부스|구역|카운터|병실|탈의실|환자|고객|손님|학생|레인|회선|매듭|포트|키|버튼|눌러|누르|홀|염색체|요추|경추|코스|코트|유형|질문|답|칸|사진|그림|참조|선택|클릭|연결|님|척추|카메라|활주로|국번|차로|차선|플랫폼|라인|대기|기호))/;
const COPULA = /^(?:입|이에|예|인데|이죠|이고|이며|인가|일|이었)/;
// Before it: what is named by one.
const NUMBERED =
  /(?:내선|진료실|검사실|상담실|수술실|부스|구역|탈의실|번호|번호는|번호가|국도|지방도|노선|문제|보기|정답은?|답은?|교향곡|소나타|협주곡|채널|트랙|좌석|창구|게이트|출구|테이블|기호|레인|메뉴|학년|\d반|선수|타자|버스|지하철|단축|다이얼|버튼은?|과목|항목|승강장|탑승구|케이스|포트|카드) ?$/;
const LISTED = /\d번?(?:과|와|,|·|~|-|또는|이나|나|하고|및|부터|에서|혹은) ?$/;
const TOPIC = /(?:은|는|시려면|려면|경우|원하시면|분은|,) ?$/;
const ENDS = /^(?:[,.·;!]|$)/;
const OFTEN =
  /(?:하루|하루에|매일|매주|매월|매년|총|최대|최소|약|단|또|한 달에|달에|주에|년에|벌써|모두|지난|이미|무려|횟수는|횟수가|기회는|기회가|겨우|불과|고작|평균|적어도|딱|일주일에|연|월|주|회당|만에) ?$/;
const PRESSED = /(?:버튼|키|벨|초인종|화면|스위치|전원|건반|클랙슨)(?:을|를|은)? ?$/;
const MENU = /(?:^|\D)1번 [가-힣 ]{1,12}[,.] ?2번 [가-힣]/; // 1번 예약, 2번 변경
const MENU_NEAR = 48;
const NEAR = 10; // units that are looked at on either side

/** Whether 번 names something instead of counting how often. */
export function isName({ number }: Quantity, { text, start, end }: Around): boolean {
  const before = text.slice(Math.max(0, start - NEAR), start);
  const after = text.slice(end, end + NEAR);
  const value = Number(number.whole);
  if (value === 0 || value > LAST_TIME) return true;
  if (OFTEN.test(before) && !/버튼/.test(after)) return false;
  if (PRESSED.test(before) && !ENDS.test(after) && !COPULA.test(after)) return false;
  if (NUMBERED.test(before) || (LISTED.test(before) && !/^ ?(?:더|째|씩)/.test(after))) return true;
  if (NAMED.test(after)) return true;
  if (TOPIC.test(before) && ENDS.test(after)) return true;
  return MENU.test(text.slice(Math.max(0, start - MENU_NEAR), end + MENU_NEAR));
}

const MACHINE =
  /(?:차량?|차|버스|택시|트럭|컴퓨터|노트북|폰|기|카메라|TV|서버|에어컨|냉장고|오토바이|헬기|드론|로봇|피아노|총|약|모두|각각|장비|열차|구급차|소방차|승용차|트랙터|모니터|태블릿|자전거|비행기|프린터|세탁기|킥보드|화물차|순찰차|전동차) ?$/;

/** 20대 are people of that age, 3대 의혹 the greatest three; 차량 3대 are counted. */
export function isEra({ number }: Quantity, { text, start, end }: Around): boolean {
  if (MACHINE.test(text.slice(Math.max(0, start - 6), start))) return false;
  return (
    /^[1-9]0$/.test(number.whole) ||
    /^(?:강|양|악|륙|째|손)/.test(text.slice(end, end + 1)) ||
    /^ [가-힣]/.test(text.slice(end, end + 2)) ||
    /대 ?$/.test(text.slice(Math.max(0, start - 2), start))
  );
}

const GUESTS =
  /(?:손님|고객님?|어르신|선생님|교수님|어른|환자분?|부모님|할머니|할아버지|참석자|일행|성인|신도|스님|기사님) ?$/;
const HONOURED =
  /^(?:이서|의 (?:손님|고객|선생|어르신|교수|부모)|께서|께|이 (?:오|계|참석|앉|기다리시|신청하)|을 (?:모시|초대|추첨)| ?(?:모두|모십|예약하))/;

/** 손님 3분: people, not minutes. */
export function arePeople({ text, start, end }: Around): boolean {
  const before = text.slice(Math.max(0, start - 6), start);
  if (/\d ?시 ?$/.test(before)) return false; // 10시 21분께
  return GUESTS.test(before) || HONOURED.test(text.slice(end, end + 8));
}
