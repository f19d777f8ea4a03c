import { expect, test } from "vitest";
import type { Grid, Layout } from "../../plugin/layout";
import { choosable, mayChoose, nextTo, place, sampled } from "../../plugin/rules";

const shape: Grid = { kind: "grid", width: 10, height: 10 };

test("squares are numbered column by column from the left", () => {
  expect(place(37, shape)).toEqual({ column: 3, row: 7 });
  expect(place(7, { height: 4 })).toEqual({ column: 1, row: 3 });
});

test("next to a square are itself and those that share a side", () => {
  expect(nextTo(55, shape)).toEqual([45, 54, 55, 56, 65]);
  expect(nextTo(0, shape)).toEqual([0, 1, 10]);
  expect(nextTo(9, shape)).toEqual([8, 9, 19]);
  expect(nextTo(99, shape)).toEqual([89, 98, 99]);
});

test("only the neighbour rule forbids squares, and none lies outside", () => {
  expect(mayChoose("standard", 0, 99, shape)).toBe(true);
  expect(mayChoose("travel", 0, 99, shape)).toBe(true);
  expect(mayChoose("neighbour", 0, 99, shape)).toBe(false);
  expect(mayChoose("neighbour", 0, 1, shape)).toBe(true);
  for (const outside of [-1, 100, 1.5, NaN]) expect(mayChoose("standard", 0, outside, shape)).toBe(false);
  expect(choosable("neighbour", 0, shape)).toEqual([0, 1, 10]);
  expect(choosable("standard", 0, shape)).toHaveLength(100);
});

test("a walk goes one square at a time and arrives by the shortest way", () => {
  for (const [from, to] of [[0, 99], [99, 0], [90, 9], [9, 90], [42, 47], [47, 42], [5, 95]] as const) {
    let at: number = from;
    let steps = 0;
    while (at !== to) {
      const next = sampled("travel", at, to, shape);
      expect(nextTo(at, shape)).toContain(next);
      at = next;
      steps += 1;
    }
    const [a, b] = [place(from, shape), place(to, shape)];
    expect(steps).toBe(Math.abs(a.column - b.column) + Math.abs(a.row - b.row));
  }
  expect(sampled("travel", 3, 3, shape)).toBe(3);
  expect(sampled("standard", 0, 99, shape)).toBe(99);
});

test("of two ways the one over the lower number is taken, as on the server", () => {
  expect(sampled("travel", 55, 44, shape)).toBe(45);
  expect(sampled("travel", 55, 64, shape)).toBe(54);
  expect(sampled("travel", 55, 66, shape)).toBe(56);
});

const arms = (count: number) => Array.from({ length: count }, () => ({ label: "", colour: "", picture: "" }));
const line: Layout = { kind: "line", arms: arms(5) };
const graph: Layout = { kind: "graph", arms: arms(5), places: [], directed: false, edges: [[0, 4], [4, 2], [1, 2], [0, 1], [1, 1]] };

test("next to an arm are its neighbours on a line, those at its edges on a graph, and all buttons", () => {
  expect([0, 2, 4].map((arm) => nextTo(arm, line))).toEqual([[0, 1], [1, 2, 3], [3, 4]]);
  expect([0, 1, 3].map((arm) => nextTo(arm, graph))).toEqual([[0, 1, 4], [0, 1, 2], [3]]);
  expect(nextTo(1, { kind: "buttons", arms: arms(3) })).toEqual([0, 1, 2]);
});

test("a walk takes a shortest way, over the lower number of two, and none where no way leads", () => {
  expect(sampled("travel", 0, 3, line)).toBe(1);
  expect(sampled("travel", 0, 2, graph)).toBe(1);
  expect(sampled("travel", 4, 1, graph)).toBe(0);
  expect(sampled("travel", 0, 3, graph)).toBe(0);
});

test("arrows lead one way, and a walk follows them, whoever has the lower number", () => {
  const ring: Layout = { ...graph, kind: "graph", directed: true, edges: [[0, 1], [1, 2], [2, 3], [3, 0], [3, 2], [4, 4]] } as Layout;
  expect([0, 1, 2, 3, 4].map((arm) => nextTo(arm, ring))).toEqual([[0, 1], [1, 2], [2, 3], [0, 2, 3], [4]]);
  expect(choosable("neighbour", 1, ring)).toEqual([1, 2]);
  expect(mayChoose("neighbour", 1, 0, ring)).toBe(false);
  const way = [1];
  while (way.at(-1) !== 0) way.push(sampled("travel", way.at(-1)!, 0, ring));
  expect(way).toEqual([1, 2, 3, 0]);
  expect(sampled("travel", 0, 4, ring)).toBe(0);
});

test("what is not on offer may not be chosen, whatever the rule", () => {
  expect(choosable("standard", 0, line, [1, 3])).toEqual([1, 3]);
  expect(choosable("neighbour", 0, line, [1, 3])).toEqual([1]);
  expect(mayChoose("standard", 0, 2, line, [1, 3])).toBe(false);
  expect(mayChoose("travel", 0, 3, line, [1, 3])).toBe(true);
});
