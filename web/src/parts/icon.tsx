// Line icons of 16 × 16, drawn here so that nothing is fetched for them. They say nothing to a screen reader: a label stands beside.
const shapes = {
  live: "M1.5 8h3l2-5 3 10 2-5h3",
  savings: "M2 14V9m4 5V5m4 9V7m4 7V2",
  cuts: "M4.5 2 11 10.6M11.500 2 5 10.6M6 12.500a1.800 1.800 0 1 1-3.600 0 1.800 1.800 0 0 1 3.600 0Zm7.600 0a1.800 1.800 0 1 1-3.600 0 1.800 1.800 0 0 1 3.600 0Z",
  servers: "M2 3h12v4H2zM2 9h12v4H2zM4.500 5h.01M4.500 11h.01",
  access: "M8 1.500 13.500 4v4c0 3-2.300 5.400-5.500 6.500C4.800 13.400 2.500 11 2.500 8V4zM5.800 8l1.700 1.700L10.500 6.500",
  playground: "M6 1.500h4M6.700 1.500v4L2.500 13c-.4.800.1 1.500 1 1.500h9c.9 0 1.400-.7 1-1.500L9.300 5.500v-4M4.800 9.500h6.400",
  pause: "M5 3v10M11 3v10",
  play: "M4.500 2.500v11l9-5.500z",
  close: "m3.500 3.500 9 9m0-9-9 9",
  copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
  check: "m2.500 8.500 3.500 3.500 7.500-8",
  sun: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1.100 1.100M11.900 11.900 13 13M3 13l1.100-1.100M11.900 4.100 13 3",
  moon: "M13.500 9.800A6 6 0 0 1 6.200 2.500a6 6 0 1 0 7.300 7.300Z",
  system: "M1.500 2.500h13v8.500h-13zM5.500 14h5M8 11v3",
  search: "M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9ZM10.500 10.500l3.500 3.500",
  restart: "M13.500 8a5.500 5.500 0 1 1-1.700-4M13.500 1.500v3h-3",
  save: "M8 2v8m0 0L4.500 6.500M8 10l3.500-3.500M2.500 13.500h11",
  right: "m6 3.500 4.500 4.500L6 12.500",
  out: "M9 2.500h4.500V7M13.500 2.500 7.500 8.500M11.500 9.500v4h-9v-9h4",
  help: "M5.800 6a2.200 2.200 0 1 1 3.200 2c-.7.400-1 .8-1 1.700M8 12.500h.01",
  fold: "M2 8h12M8 1.500V5m0 0L6 3m2 2 2-2M8 14.500V11m0 0-2 2m2-2 2 2",
  leave: "M6.500 2.500h-4v11h4M10 5l3 3-3 3M13 8H6",
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}
