"use strict";
// An agent may have written the address under the pointer: nothing is opened from the terminal in this page.
Object.defineProperty(window, "open", { value: () => null, writable: false, configurable: false });

document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("again").addEventListener("click", () => window.location.reload());

  // With the first thing drawn, keys belong to the app; without this a person would have to click into it.
  const drawn = new MutationObserver(() => {
    if (document.body.classList.contains("-first-byte")) {
      drawn.disconnect();
      document.querySelector(".xterm-helper-textarea").focus();
    }
  });
  drawn.observe(document.body, { attributeFilter: ["class"] });
});
