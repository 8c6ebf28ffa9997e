"""Is A really better than B? Arrays of scores in, small results out; knows neither measures nor files."""
