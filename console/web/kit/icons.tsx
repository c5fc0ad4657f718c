// Icons: drawn by lines of the colour of the text, hidden from screen readers, as each stands beside words.

const shapes = {
  batches: "M4 5h16M4 10h16M4 15h10M4 20h7",
  upload: "M12 16V4M7 9l5-5 5 5M4 16v4h16v-4",
  overview: "M4 20V10M10 20V4M16 20v-8M21 20H3",
  entities: "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21c0-5 4-7 8-7s8 2 8 7",
  documents: "M6 3h8l4 4v14H6zM14 3v4h4",
  transactions: "M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4",
  screening: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM15 15l6 6",
  policies: "M5 4h14M5 9h14M5 14h8M14 18l2 2 4-5",
  webhooks: "M6 18a3 3 0 1 0 0-.1ZM18 18a3 3 0 1 0 0-.1ZM12 7a3 3 0 1 0 0-.1ZM11 9l-4 7M13 9l4 7M9 18h6",
  operator: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
  error: "M12 8v5M12 16.5v.5M12 3l9.5 17h-19z",
  warning: "M12 8v5M12 16.5v.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  info: "M12 11v6M12 7.5v.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  done: "M5 13l4 4L19 7",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  download: "M12 4v12M7 11l5 5 5-5M4 20h16",
  next: "M9 5l7 7-7 7",
  previous: "M15 5l-7 7 7 7",
  search: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM15 15l6 6",
  menu: "M4 6h16M4 12h16M4 18h16",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  dark: "M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10Z",
  keyboard: "M3 6h18v12H3zM7 10h.5M11 10h.5M15 10h.5M8 14h8",
  pause: "M8 5v14M16 5v14",
  play: "M7 4l12 8-12 8z",
  waiting: "M12 7v5l3 3M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
} as const;

/** IconName is the name of an icon. */
export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}
