// The notices above the page: a problem, and the form for the API key. When the notice that has the focus is
// hidden, the focus goes back to where it was before, so that the keyboard and a screen reader do not begin
// at the top of the page again.

export class Notices {
  #holder;
  #places;
  /** The element outside of the notices that had the focus last. */
  #before;

  /**
   * `holder` is the element that has the notices in it. `places` are the elements that get the focus if the
   * one before cannot take it: the first that can. An element of a notice that is still shown goes first.
   */
  constructor(holder, places) {
    this.#holder = holder;
    this.#places = places;
    holder.addEventListener('focusin', ({ relatedTarget }) => {
      if (relatedTarget !== null && !holder.contains(relatedTarget)) this.#before = relatedTarget;
    });
  }

  hide(notice) {
    const hadFocus = notice.contains(document.activeElement);
    notice.hidden = true;
    if (!hadFocus) return;
    const shown = this.#holder.querySelectorAll('input, button');
    [...shown, this.#before, ...this.#places].find(canTakeFocus)?.focus();
  }
}

function canTakeFocus(element) {
  return element?.isConnected === true && element.disabled !== true && element.getClientRects().length > 0;
}
