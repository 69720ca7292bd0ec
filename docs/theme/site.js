"use strict";
// Light or dark, the menu of narrow windows, and the search, whose index is a script
// beside the pages: nothing is asked of a server, so that a page on a disk can do it too.
(() => {
  const page = document.documentElement, root = page.dataset.root;

  // What the reader chose holds from the first paint on.
  const remembered = (() => {
    try { return localStorage.getItem("scheme"); } catch { return null; }
  })();
  if (remembered) page.style.colorScheme = remembered;

  // The words of a text, without endings, so that "resuming" finds "resumes".
  const STOP = new Set(("a an and are as at be by can do does for from has have how i if in " +
    "into is it its me my no not of on one or so than that the their them then there they " +
    "this to was what when where which who why will with you your").split(" "));
  const stem = (word) => {
    for (const ending of ["ings", "ing", "ied", "ies", "ed", "es", "s", "e", "y"]) {
      if (word.length - ending.length >= 4 && word.endsWith(ending)) {
        return word.slice(0, -ending.length);
      }
    }
    return word;
  };
  const words = (text) => text.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()
    .match(/[a-z0-9]+/g) ?? [];

  // The index: for each word the sections that have it, with a weight. A word of a
  // heading counts as many of the text below it do.
  const HEADING = 9, TITLE = 4;
  let index = null;
  const build = () => {
    const found = new Map(), lengths = [];
    const add = (word, number, weight) => {
      if (!found.has(word)) found.set(word, new Map());
      const counts = found.get(word);
      counts.set(number, (counts.get(number) ?? 0) + weight);
    };
    window.sections.forEach(([title, heading, , text], number) => {
      const below = words(text);
      lengths.push(below.length);
      for (const word of below) add(stem(word), number, 1);
      for (const word of words(heading)) add(stem(word), number, HEADING);
      for (const word of words(title)) add(stem(word), number, TITLE);
    });
    const mean = lengths.reduce((sum, one) => sum + one, 0) / lengths.length;
    return { found, lengths, mean, all: [...found.keys()] };
  };

  // BM25, and before it how many of the question's words a section has.
  const search = (question) => {
    index ??= build();
    const asked = words(question);
    const last = asked.at(-1);
    let terms = asked.filter((word) => !STOP.has(word));
    if (!terms.length) terms = asked;
    const scores = new Map(), total = index.lengths.length;
    for (const term of new Set(terms)) {
      const stemmed = stem(term), best = new Map();
      // A word that may still be typed stands for all that begin with it.
      const isOpen = term === last && !question.endsWith(" ") && term.length > 1;
      const meant = isOpen ? index.all.filter((word) => word.startsWith(stemmed)) : [stemmed];
      for (const word of meant) {
        const counts = index.found.get(word);
        if (!counts) continue;
        const rarity = Math.log(1 + (total - counts.size + 0.5) / (counts.size + 0.5));
        const exact = word === stemmed ? 1 : 0.6;
        for (const [number, count] of counts) {
          const long = 0.25 + 0.75 * index.lengths[number] / index.mean;
          const score = exact * rarity * count * 2.2 / (count + 1.2 * long);
          if (score > (best.get(number) ?? 0)) best.set(number, score);
        }
      }
      for (const [number, score] of best) {
        const [sum, hits] = scores.get(number) ?? [0, 0];
        scores.set(number, [sum + score, hits + 1]);
      }
    }
    const count = new Set(terms).size;
    const named = question.trim().toLowerCase();
    return [...scores].map(([number, [sum, hits]]) => {
      const [, heading, , , weight] = window.sections[number];
      // Who types a name wants what has that name.
      const fits = heading.toLowerCase() === named ? 4 : weight;
      return [number, fits * sum * (hits / count) ** 1.5];
    }).sort((one, other) => other[1] - one[1]).slice(0, 12).map(([number]) => number);
  };

  // Where the words of a question stand in a text, and some of the text around them.
  const excerpt = (text, question) => {
    const stems = words(question).filter((word) => !STOP.has(word)).map(stem);
    if (!stems.length) return [text.slice(0, 150)];
    const pattern = new RegExp(`(\\b(?:${stems.join("|")})[a-z]*)`, "gi");
    const first = text.search(pattern);
    const start = Math.max(0, first - 60);
    const begin = start ? text.indexOf(" ", start) + 1 : 0;
    const end = text.indexOf(" ", begin + 160);
    const part = end < 0 ? text.slice(begin) : `${text.slice(begin, end)} \u2026`;
    return [...(begin ? ["\u2026 "] : []), ...part.split(pattern)];
  };

  document.addEventListener("DOMContentLoaded", () => {
    const query = document.getElementById("query"), list = document.getElementById("found");
    const menu = document.getElementById("menu");
    let chosen = -1;

    const load = () => {
      if (document.getElementById("index")) return;
      const script = document.createElement("script");
      script.id = "index";
      script.src = `${root}search_index.js`;
      script.addEventListener("load", show);
      document.head.append(script);
    };
    const entry = (number) => {
      const [title, heading, place, text] = window.sections[number];
      const link = document.createElement("a"), head = document.createElement("b");
      link.href = root + place;
      head.textContent = heading;
      if (title !== heading) {
        const small = document.createElement("small");
        small.textContent = title;
        head.append(small);
      }
      const below = document.createElement("span");
      excerpt(text, query.value).forEach((part, at, all) => {
        const isMarked = all.length > 1 && at % 2 === (all[0] === "\u2026 " ? 0 : 1) && at > 0;
        if (!isMarked) { below.append(part); return; }
        const mark = document.createElement("mark");
        mark.textContent = part;
        below.append(mark);
      });
      link.append(head, below);
      const item = document.createElement("li");
      item.append(link);
      return item;
    };
    const show = () => {
      chosen = -1;
      if (!window.sections || !query.value.trim()) { list.hidden = true; return; }
      const found = search(query.value);
      list.replaceChildren(...found.map(entry));
      if (!found.length) {
        const none = document.createElement("li");
        none.className = "none";
        none.textContent = "Nothing has these words.";
        list.append(none);
      }
      list.hidden = false;
      list.scrollTop = 0;
    };
    const choose = (step) => {
      const links = [...list.querySelectorAll("a")];
      if (!links.length) return;
      chosen = (chosen + step + links.length) % links.length;
      links.forEach((link, at) => link.classList.toggle("chosen", at === chosen));
      links[chosen].scrollIntoView({ block: "nearest" });
    };

    query.addEventListener("focus", load);
    query.addEventListener("input", () => { load(); show(); });
    query.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(1);
      else if (event.key === "ArrowUp") choose(-1);
      else if (event.key === "Enter") list.querySelectorAll("a")[Math.max(0, chosen)]?.click();
      else if (event.key === "Escape") { query.blur(); list.hidden = true; }
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      query.focus();
      query.select();
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest(".search")) list.hidden = true;
      if (event.target.closest("#found a")) list.hidden = true;
    });

    document.getElementById("theme").addEventListener("click", () => {
      const isDark = getComputedStyle(page).colorScheme === "dark" || (
        getComputedStyle(page).colorScheme !== "light" &&
        matchMedia("(prefers-color-scheme: dark)").matches);
      const scheme = isDark ? "light" : "dark";
      page.style.colorScheme = scheme;
      try { localStorage.setItem("scheme", scheme); } catch { /* Not on this disk. */ }
    });
    menu.addEventListener("click", () => {
      const isOpen = document.body.classList.toggle("menu");
      menu.setAttribute("aria-expanded", isOpen);
    });

    // Other versions of the site, in folders beside this one: to the same page there, if
    // that version has it.
    const label = document.querySelector(".version"), versions = window.versions ?? {};
    if (label.dataset.name in versions && Object.keys(versions).length > 1) {
      const select = document.createElement("select");
      select.className = "version";
      select.setAttribute("aria-label", "Version");
      for (const name of Object.keys(versions)) {
        select.add(new Option(name, name, false, name === label.dataset.name));
      }
      const home = new URL(root || "./", location.href);
      const place = decodeURI(location.pathname.slice(home.pathname.length));
      select.addEventListener("change", () => {
        const there = versions[select.value];
        const target = there.includes(place) ? place : "index.html";
        location.href = new URL(`../${select.value}/${target}`, home);
      });
      select.title = label.textContent;
      label.replaceWith(select);
    }

    // The part of the page that is read, among its contents.
    const pages = document.getElementById("pages");
    const current = pages.querySelector("[aria-current]");
    if (current) pages.scrollTop = current.offsetTop - pages.clientHeight / 2;
    const links = new Map([...document.querySelectorAll("aside a")]
      .map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
    const heads = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
    const follow = () => {
      const past = heads.filter((head) => head.getBoundingClientRect().top < 120);
      const here = links.get((past.at(-1) ?? heads[0])?.id);
      for (const link of links.values()) link.classList.toggle("here", link === here);
    };
    if (heads.length) {
      addEventListener("scroll", follow, { passive: true });
      follow();
    }
  });
})();
