/** @param work of which so many are under way at once */
export const inParallel = async <Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  workers = 16,
): Promise<void> => {
  const queue = items.values();
  const one = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, one));
};
