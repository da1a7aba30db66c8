import { afterEach, expect, test, vi } from "vitest";
import { indexAge } from "../../api/indexed/index-age.ts";

afterEach(() => void vi.useRealTimers());

test("x-index-age is the time since the block's timestamp in whole seconds, and 0 for a block of the future", () => {
  vi.useFakeTimers({ now: 1_767_225_660_900, toFake: ["Date"] });
  expect(indexAge({ timestamp: 1_767_225_600n })).toBe("60");
  expect(indexAge({ timestamp: 1_767_225_660n })).toBe("0");
  expect(indexAge({ timestamp: 1_767_225_999n })).toBe("0");
  vi.setSystemTime(1_767_229_200_000);
  expect(indexAge({ timestamp: 1_767_225_600n })).toBe("3600");
});
