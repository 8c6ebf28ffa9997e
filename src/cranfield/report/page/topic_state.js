// Between the view of a topic and what the reader has chosen on the page: the two systems, the order, the topic.
const ORDER_NAMES = {
  topic: "by topic", difference: "by difference", difficulty: "hardest first", unjudged: "most unjudged first",
};
const pair = () => (data.systems.length > 1 ? state.pair : []);
const topicOrder = () => state.sort[0];

function choosePair(side, system) {
  const [before, other] = [state.pair[side], state.pair[1 - side]];
  const kept = system === other ? before : other; // the same two, the other way round
  state.pair = side ? [kept, system] : [system, kept];
  showChosen();
}

function chooseOrder(order) {
  state.sort = [order, order === "topic" || order === "difficulty" ? 1 : -1];
  showChosen();
}

let topicShown = null;
function showChosen() {
  drawCharts();
  drawTopics();
  if (topicShown !== null) openTopic(topicShown);
}

function showTopic(t) {
  openTopic(t);
  topicShown = t;
  history.replaceState(null, "", `#topic=${encodeURIComponent(data.topics[t])}`);
}

function openAddressed() {
  const named = /^#topic=(.*)$/.exec(location.hash);
  const t = named ? data.topics.indexOf(decodeURIComponent(named[1])) : -1;
  if (t >= 0) showTopic(t);
}
