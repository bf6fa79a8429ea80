"use strict";
const table = document.getElementById("matrix");
const body = table.tBodies[0];
const heads = [...table.querySelectorAll(".heads th")];
const signs = "✓✗–CTRB·?!"; // from what is best to what is worst
document.getElementById("sorting").hidden = false;

const value = (row, column) => {
  const text = row.cells[column].textContent;
  if (column === 0) return text;
  const sign = signs.indexOf(text);
  if (text !== "" && sign >= 0) return -sign;
  const number = parseFloat(text);
  return Number.isNaN(number) ? -1 : number;
};
heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    // Names from A on, figures and signs from the worst on.
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map(row => [value(row, column), row]);
    const order = (a, b) => column === 0 ? a.localeCompare(b) : a - b;
    rows.sort(([a], [b]) => (down ? -1 : 1) * order(a, b));
    body.append(...rows.map(([, row]) => row));
  });
});
