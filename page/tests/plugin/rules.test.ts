import { expect, test } from "vitest";
import type { Grid } from "../../plugin/layout";
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
