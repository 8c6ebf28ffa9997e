// Between the view of a topic and what the reader has chosen on the page: the two systems, the order, the topic.
const pair = () => (state.first === null ? [] : [state.first, state.second]);
const sidesShown = () => (state.first === null ? pickedByMean().slice(0, 1) : pair());
const topicOrder = () => state.order;

// One of the two systems is another; the other of them stays, or takes its place if it is that one.
function choosePair(side, system) {
  const [before, other] = side ? [state.second, state.first] : [state.first, state.second];
  const kept = system === other ? before : other;
  const systems = isShown(system) ? asked.systems : toggled(system, true).systems;
  choose({ first: side ? kept : system, second: side ? system : kept, systems });
}

const chooseOrder = (order) => choose({ order });
const showTopic = (topic) => choose({ topic });
