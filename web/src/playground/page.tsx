export function PlaygroundPage() {
  return <p />;
}
