/** What a set had, which is empty then: what is added while it is gone through waits for the next time. */
export const drained = <Element>(set: Set<Element>): Element[] => {
  const elements = [...set];
  set.clear();
  return elements;
};
