// Charts: lines over time by uPlot, and bars as plain elements. Each has its figures as text for screen readers.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { formatCompact, formatCount, formatShare, formatTime } from "./format.tsx";

/** Point is a figure at a time. */
export interface Point {
  /** at is a time in milliseconds since 1970. */
  at: number;
  value: number;
}

interface LineChartProps {
  /** label says what the chart shows, with its unit: "Lines a second". */
  label: string;
  points: readonly Point[];
  /** format writes a figure, for the axis and the legend. */
  format?: (n: number) => string;
  /** height is in pixels. */
  height?: number;
}

/**
 * LineChart draws one figure over time. It keeps its size, follows the width of its place and the colours of the theme.
 */
export function LineChart({ label, points, format = formatCompact, height = 120 }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = useRef<uPlot.AlignedData>([[], []]);
  data.current = [points.map((p) => p.at / 1000), points.map((p) => p.value)];

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(chartOptions(element, label, format, height), data.current, element);
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [label, height]);

  useEffect(() => plot.current?.setData(data.current), [points]);

  const last = points.at(-1);
  const greatest = points.reduce((most, p) => Math.max(most, p.value), 0);
  return (
    <figure class="chart">
      <figcaption>
        {label}
        {last && (
          <span class="tabular aside">
            {" "}
            now {format(last.value)}, at most {format(greatest)}
          </span>
        )}
      </figcaption>
      <div ref={place} class="chart-place" aria-hidden="true" style={{ height: `${height}px` }} />
    </figure>
  );
}

function chartOptions(
  element: HTMLElement,
  label: string,
  format: (n: number) => string,
  height: number,
): uPlot.Options {
  const [text, line, accent] = ["--text-quiet", "--line", "--accent"].map((token) => colourOf(element, token)) as [
    string,
    string,
    string,
  ];
  const axis = {
    stroke: text,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      {
        ...axis,
        space: 90,
        size: 24,
        values: (_, ticks) => ticks.map((seconds) => formatTime(new Date(seconds * 1000))),
      },
      { ...axis, size: 52, space: 32, values: (_, ticks) => ticks.map(format) },
    ],
    series: [{}, { label, stroke: accent, width: 1.5, points: { show: false } }],
  };
}

/** colourOf returns the colour of a token as a canvas takes it, without var and light-dark. */
function colourOf(element: HTMLElement, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** Bar is one row of Bars. */
export interface Bar {
  key: string;
  label: string;
  value: number;
  /** kind colours the bar; accent if it is not given. */
  kind?: "ok" | "warn" | "bad" | "info" | "accent";
}

interface BarsProps {
  label: string;
  bars: readonly Bar[];
  /** of is the whole of which the bars are shares; the greatest bar is as wide as the place if it is not given. */
  of?: number;
  /** onSelect makes the rows buttons. */
  onSelect?: (key: string) => void;
  selected?: string | undefined;
}

/** Bars shows counts beside each other: the longest first is up to the caller. */
export function Bars({ label, bars, of, onSelect, selected }: BarsProps) {
  const greatest = of ?? bars.reduce((most, bar) => Math.max(most, bar.value), 0);
  return (
    <ul class="plain" aria-label={label}>
      {bars.map((bar) => {
        const content = (
          <>
            <span class="bar-label">{bar.label}</span>
            <span class="bar-value tabular">
              {formatCount(bar.value)}
              {of !== undefined && <span class="aside"> {formatShare(bar.value, of)}</span>}
            </span>
            <span class="bar-track" aria-hidden="true">
              <span
                class={`bar-fill bar-${bar.kind ?? "accent"}`}
                style={{ width: `${greatest > 0 ? (100 * bar.value) / greatest : 0}%` }}
              />
            </span>
          </>
        );
        return (
          <li key={bar.key}>
            {onSelect ? (
              <button type="button" class="bar" aria-pressed={bar.key === selected} onClick={() => onSelect(bar.key)}>
                {content}
              </button>
            ) : (
              <div class="bar">{content}</div>
            )}
          </li>
        );
      })}
    </ul>
  );
}
