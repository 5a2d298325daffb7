// The tabs of the page: one panel is shown, and the arrow keys go from tab to tab. The address remembers the
// tab.
const KEYS = { ArrowLeft: -1, ArrowRight: 1 };

/** `tabs` are the elements with the role of a tab, whose panels their `aria-controls` name. */
export function joinTabs(tabs, onShown) {
  const show = (shown) => {
    for (const tab of tabs) {
      const isShown = tab === shown;
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = !isShown;
    }
    onShown(shown);
  };
  const byAddress = () => tabs.find((tab) => `#${tab.id}` === `${location.hash}-tab`) ?? tabs[0];
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => {
      history.replaceState(null, '', `#${tab.id.replace(/-tab$/, '')}`);
      show(tab);
    });
    tab.addEventListener('keydown', (event) => {
      const step = KEYS[event.key];
      if (step === undefined) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  }
  addEventListener('hashchange', () => show(byAddress()));
  show(byAddress());
}
