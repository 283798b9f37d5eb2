/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C++ that compilers inline in many ways: templates, lambdas, methods, local classes, destructors.
 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes
{
template <class Number> struct point {
	Number x, y;
	point operator+(const point &other) const
	{
		return {x + other.x, y + other.y};
	}
	template <class Function> point map(Function function) const
	{
		return {function(x), function(y)};
	}
};

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

template <int sides> struct polygon : shape {
	std::vector<point<double>> corners;
	explicit polygon(double size)
	{
		for (int i = 0; i < sides; i++)
			corners.push_back(point<double>{size * i, size / (i + 1)}.map(
				[size](double value) { return value * value + size; }));
	}
	double area() const override
	{
		double sum = 0;
		for (const auto &corner : corners)
			sum += corner.x * corner.y;
		return sum;
	}
};
} // namespace shapes

static std::string join(const std::map<std::string, int> &counts)
{
	std::string text;
	for (const auto &[name, count] : counts)
		text += name + "=" + std::to_string(count) + ";";
	return text;
}

static int local_class(int seed)
{
	struct counter {
		int value;
		int next() { return value = value * 1103515245 + 12345; }
		~counter() { std::printf("%d\n", value); }
	} counter{seed};
	return counter.next() ^ counter.next();
}

int main(int argc, char **argv)
{
	std::vector<std::unique_ptr<shapes::shape>> all;
	std::map<std::string, int> counts;
	std::function<int(int)> twice = [&](int value) { return value * 2 + argc; };

	for (int i = 0; i < argc + 3; i++) {
		all.push_back(std::make_unique<shapes::polygon<3>>(i));
		all.push_back(std::make_unique<shapes::polygon<7>>(twice(i)));
		counts[argv[0]] += local_class(i);
	}
	std::sort(all.begin(), all.end(),
		  [](const auto &a, const auto &b) { return a->area() < b->area(); });
	try {
		counts.at("nowhere")++;
	} catch (const std::exception &error) {
		std::puts(error.what());
	}
	std::puts(join(counts).c_str());
	return (shapes::point<int>{1, 2} + shapes::point<int>{3, 4}).x == 4 ? 0 : 1;
}
