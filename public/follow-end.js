// Keeps the end of a list in sight while it grows, unless the reader has scrolled up.

const NEAR = 24; // CSS pixels from the end that count as the end

/** Follows from now on. `list` scrolls by itself. */
export function followEnd(list) {
  let isAtEnd = true;
  list.addEventListener('scroll', () => {
    isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight <= NEAR;
  });
  const follow = () => {
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  };
  new MutationObserver(follow).observe(list, {
    childList: true,
    characterData: true,
    subtree: true,
    attributes: true, // a list that is no longer hidden
  });
  new ResizeObserver(follow).observe(list);
}
