import { expect, test } from "vitest";
import { counted } from "../../researcher/elements";

test("one of a thing is not several", () => {
  expect(counted(1, "block")).toBe("1 block");
  expect(counted(0, "block")).toBe("0 blocks");
  expect(counted(1000, "person", "people")).toBe("1,000 people");
});
