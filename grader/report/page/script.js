"use strict";
// A link into the source opens it.
const unfold = () => {
  const to = location.hash && document.getElementById(location.hash.slice(1));
  const own = to && to.matches("section") && to.querySelector("details");
  if (own) own.open = true;
  const folded = () => to && to.closest("details:not([open])");
  if (!folded()) return;
  while (folded()) folded().open = true;
  to.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", unfold);
unfold();
